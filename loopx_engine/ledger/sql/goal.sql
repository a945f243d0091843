-- name: goal.active
select * from "goal" where phase = 'active' order by priority, created_at, id

-- name: goal.all
select * from "goal" order by created_at desc, id desc limit :limit

-- name: goal.of_project
select * from "goal" where project = :project and phase <> 'archived' order by created_at desc limit :limit

-- name: goal.active_for
select g.id from "goal" g where g.phase = 'active' and (g.agents = '[]' or exists (select 1 from json_each(g.agents) a where a.value = :actor)) order by g.priority, g.created_at, g.id

-- name: goal.listed_count
select count(*) from "goal" where phase <> 'archived'

-- name: goal.own_count
select count(*) from "goal" where project = :own and phase <> 'archived'

-- name: goal.own_listed
select id from "goal" where project = :own and phase <> 'archived' order by case phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end, priority, -cast(substr(id, 3) as integer) limit :limit offset :offset

-- name: goal.other_listed
select id from "goal" where project <> :own and phase <> 'archived' order by case phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end, priority, -cast(substr(id, 3) as integer) limit :limit offset :offset

-- name: goal.own_before
select count(*) from "goal" b where b.project = :own and b.phase <> 'archived' and (case b.phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end, b.priority, -cast(substr(b.id, 3) as integer)) < (select case phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end, priority, -cast(substr(id, 3) as integer) from "goal" where id = :at)

-- name: goal.other_before
select count(*) from "goal" b where b.project <> :own and b.phase <> 'archived' and (case b.phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end, b.priority, -cast(substr(b.id, 3) as integer)) < (select case phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end, priority, -cast(substr(id, 3) as integer) from "goal" where id = :at)

-- name: goal.project_of
select project from "goal" where id = :at and phase <> 'archived'

-- name: goal.ids_of_project
select id from "goal" where project = :project and phase <> 'archived'

-- name: goal.counts
select c.goal, c.name, c.value from json_each(:goals) g join counter c on c.goal = g.value where c.name in ('todo', 'todo.done', 'todo.dropped', 'todo.proved', 'criterion', 'criterion.met', 'criterion.waived')

-- name: goal.asleep
select g.id from "goal" g where g.phase = 'active' and not exists (select 1 from "wake" w where w.id = g.id) order by g.priority, g.id

-- name: goal.ids_active
select id from "goal" where phase = 'active' order by priority, created_at, id
