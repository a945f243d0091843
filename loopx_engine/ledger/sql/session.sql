-- name: session.of
select * from "session" where goal = :goal and actor = :actor order by id limit 1
