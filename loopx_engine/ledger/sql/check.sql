-- name: check.named
select * from "check" where id in (select value from json_each(:ids))

-- name: check.of_goal
select * from "check" where goal = :goal and state = 'set' order by set_at, id

-- name: check.used_by
select id from "todo" where "check" = :check union select id from "criterion" where "check" = :check union select id from "goal" where "check" = :check
