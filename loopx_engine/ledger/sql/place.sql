-- name: place.of_goal
select * from "place" where goal = :goal and state <> 'dropped' order by created_at, id

-- name: place.of_project
select * from "place" where project = :project and state <> 'dropped' order by created_at, id

-- name: place.all
select * from "place" order by created_at desc limit :limit

-- name: place.broken
select p.id, p.goal from "place" p join "goal" g on g.id = p.goal where p.state = 'broken' and g.phase in ('active', 'paused') order by p.created_at, p.id

-- name: place.ids_of_goal
select id from "place" where goal = :goal and state <> 'dropped' order by created_at, id

-- name: place.paths
select path, project from "place" where state <> 'dropped' order by created_at desc limit :limit
