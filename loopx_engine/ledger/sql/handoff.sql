-- name: handoff.offered
select * from "handoff" where goal = :goal and state = 'offered' order by created_at
