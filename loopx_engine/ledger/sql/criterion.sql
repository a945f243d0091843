-- name: criterion.of_goal
select * from "criterion" where goal = :goal order by number
