-- name: actor.by_name
select * from "actor" where name = :name and state = 'active' order by created_at

-- name: actor.by_token
select * from "actor" where token_hash = :hash and token_hash <> '' and state = 'active'

-- name: actor.owner
select * from "actor" where kind = 'person' and role = 'owner' and state = 'active' order by created_at limit 1

-- name: actor.engine
select * from "actor" where kind = 'engine' and state = 'active' order by created_at limit 1

-- name: actor.agents
select * from "actor" where kind = 'agent' and state = 'active' order by created_at, id

-- name: actor.all
select * from "actor" order by created_at, id limit :limit
