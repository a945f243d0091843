-- name: watch.of_goal
select * from "watch" where goal = :goal and state <> 'ended' order by due
