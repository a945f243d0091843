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

-- name: turn.running
select id, goal, actor, todo, purpose, state, begun_at from "turn" where state in ('open', 'finishing') order by begun_at, id

-- name: turn.running_of
select id, actor, todo, state, purpose, begun_at, deadline, attended, transcript, sandbox from "turn" where +goal = :goal and state in ('open', 'finishing') order by begun_at, id

-- name: turn.lost_last
select u.id, u.goal, u.todo from "turn" u join "todo" t on t.id = u.todo join "goal" g on g.id = u.goal where u.state = 'lost' and t.state in ('open', 'waiting') and g.phase in ('active', 'paused') and not exists (select 1 from "turn" n where n.todo = u.todo and (n.begun_at, cast(substr(n.id, 3) as integer)) > (u.begun_at, cast(substr(u.id, 3) as integer))) order by u.begun_at desc, u.id desc limit :limit
