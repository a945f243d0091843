-- name: criterion.of_goal
select * from "criterion" where goal = :goal order by number

-- name: criterion.ids_of_goal
select id from "criterion" where goal = :goal order by number, id
