-- name: goal.active
select * from "goal" where phase = 'active' order by priority, created_at, id

-- name: goal.all
select * from "goal" order by created_at desc, id desc limit :limit

-- name: goal.of_project
select * from "goal" where project = :project and phase <> 'archived' order by created_at desc limit :limit

-- name: goal.active_for
select g.id from "goal" g where g.phase = 'active' and (g.agents = '[]' or exists (select 1 from json_each(g.agents) a where a.value = :actor)) order by g.priority, g.created_at, g.id
