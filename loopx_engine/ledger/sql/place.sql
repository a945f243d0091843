-- name: place.of_goal
select * from "place" where goal = :goal and state <> 'dropped' order by created_at, id

-- name: place.of_project
select * from "place" where project = :project and state <> 'dropped' order by created_at, id

-- name: place.all
select * from "place" order by created_at desc limit :limit
