-- name: message.corrections
select * from "message" where goal = :goal and correction = 1 and state in ('stored', 'queued', 'handed over', 'seen') and "to" in ('', :actor) order by created_at

-- name: message.to_consume
select * from "message" where goal = :goal and state in ('stored', 'queued', 'handed over', 'seen') and "to" in ('', :actor) and author <> :actor order by created_at limit :limit

-- name: message.of_goal
select * from "message" where goal = :goal order by created_at desc limit :limit

-- name: message.handed_over_in
select * from "message" where goal = :goal and turn = :turn and state in ('handed over', 'seen') order by created_at
