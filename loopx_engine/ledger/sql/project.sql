-- name: project.known
select * from "project" where root = :root or (identity <> '' and identity = :identity) order by root = :root desc limit 1

-- name: project.all
select * from "project" order by created_at desc limit :limit
