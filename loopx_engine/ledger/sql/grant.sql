-- name: grant.live
select * from "grant" where state = 'live' and (goal is null or goal = :goal) order by created_at

-- name: grant.all_live
select * from "grant" where state = 'live' order by created_at limit :limit

-- name: grant.uses
select r.grant_id, count(*) from "grant" g join "receipt" r on r.grant_id = g.id and r.grant_id <> '' where g.state = 'live' and (g.goal is null or g.goal = :goal) group by r.grant_id

-- name: grant.of_decision
select id from "grant" where decision = :decision order by created_at desc, id desc limit 1

-- name: grant.ids_live
select id from "grant" where state = 'live' and (goal is null or goal = :goal) and expires > :now order by created_at, id
