-- name: evidence.fresh_of_todo
select * from "evidence" where todo = :todo and state = 'fresh' order by at

-- name: evidence.of_todo
select * from "evidence" where todo = :todo order by at desc limit :limit

-- name: evidence.last_passed
select * from "evidence" where goal = :goal and outcome = 'pass' and state = 'fresh' order by at desc limit :limit

-- name: evidence.last_count
select count from "evidence" where "check" = :check and outcome = 'pass' and count is not null order by at desc limit 1

-- name: evidence.of_goal
select * from "evidence" where goal = :goal order by at desc limit :limit

-- name: evidence.ids_of_todo
select id from "evidence" where todo = :todo order by at desc, -cast(substr(id, 3) as integer) limit :limit

-- name: evidence.ids_of_goal
select id from "evidence" where goal = :goal order by at desc, -cast(substr(id, 3) as integer) limit :limit
