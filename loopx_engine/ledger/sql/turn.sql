-- name: turn.live
select * from "turn" where goal = :goal and state in ('open', 'finishing') order by begun_at

-- name: turn.all_live
select * from "turn" where state in ('open', 'finishing') order by begun_at

-- name: turn.live_in_place
select * from "turn" where place = :place and state in ('open', 'finishing') order by begun_at

-- name: turn.by_token
select * from "turn" where token_hash = :hash and token_hash <> ''

-- name: turn.of_goal
select * from "turn" where goal = :goal order by begun_at desc limit :limit

-- name: turn.of_todo
select * from "turn" where todo = :todo order by begun_at desc limit :limit

-- name: turn.last_of_todo
select * from "turn" where todo = :todo and state in ('settled', 'lost') order by begun_at desc limit 1

-- name: turn.recent_of
select * from "turn" where actor = :actor order by begun_at desc limit :limit

-- name: turn.newest
select purpose, frontier from "turn" where goal = :goal order by begun_at desc, length(id) desc, id desc limit :limit
