-- name: project.known
select * from "project" where root = :root or (identity <> '' and identity = :identity) order by root = :root desc limit 1

-- name: project.all
select * from "project" order by created_at desc limit :limit

-- name: project.roots
select id, root from "project" order by created_at desc limit :limit

-- name: project.of_goals
select distinct o.project from json_each(:goals) g join "goal" o on o.id = g.value
