-- name: todo.unfinished
select * from "todo" where goal = :goal and state in ('open', 'waiting', 'proving') order by rank limit :limit

-- name: todo.all_unfinished
select * from "todo" where goal = :goal and state in ('open', 'waiting', 'proving') order by rank

-- name: todo.in_order
select * from "todo" where goal = :goal order by rank

-- name: todo.of_goal
select * from "todo" where goal = :goal order by rank limit :limit

-- name: todo.ready
select t.* from "todo" t where t.goal = :goal and t.state = 'open' and not exists (select 1 from json_each(t.needs) n left join "todo" o on o.id = n.value where o.state is null or o.state <> 'done') order by t.rank limit :limit

-- name: todo.held
select t.* from "lease" l join "todo" t on t.id = l.id where l.goal = :goal and l.state = 'held'

-- name: todo.states
select id, state from "todo" where id in (select value from json_each(:ids))

-- name: todo.serving
select substr(name, length('todo.serving.') + 1), value from counter where goal = :goal and name like 'todo.serving.%' and value <> 0

-- name: todo.served
select substr(name, length('todo.served.') + 1), value from counter where goal = :goal and name like 'todo.served.%' and value <> 0

-- name: todo.refused
select distinct b.value from "decision" d, json_each(d.blocks) b join "todo" t on t.id = b.value where d.goal = :goal and d.answer = 'no' and t.state in ('open', 'waiting') and not exists (select 1 from "turn" u where u.todo = t.id and u.begun_at > d.answered_at)

-- name: todo.without_successor
select id from "todo" where goal = :goal and state = 'done' and successor is null and no_successor = '' order by ended_at desc limit 5

-- name: todo.needing
select t.* from "todo" t where t.goal = :goal and t.state in ('open', 'waiting', 'proving') and exists (select 1 from json_each(t.needs) n where n.value = :todo) order by t.rank

-- name: todo.last_rank
select max(rank) from "todo" where goal = :goal

-- name: todo.rank_before
select max(rank) from "todo" where goal = :goal and rank < :rank and id <> :todo

-- name: todo.waiting
select * from "todo" where goal = :goal and state = 'waiting' order by rank limit :limit

-- name: todo.done
select * from "todo" where goal = :goal and state = 'done' order by ended_at desc limit :limit

-- name: todo.listed
select id from "todo" where goal = :goal order by state = 'dropped', rank, id limit :limit offset :offset

-- name: todo.before
select count(*) from "todo" b join "todo" a on a.id = :at where b.goal = :goal and (b.state = 'dropped') = (a.state = 'dropped') and (b.rank, b.id) < (a.rank, a.id)

-- name: todo.not_dropped
select count(*) from "todo" where goal = :goal and (state = 'dropped') = 0

-- name: todo.stands_in
select state = 'dropped' from "todo" where id = :at and goal = :goal

-- name: todo.doers
select t.value, (select u.actor from "turn" u where u.todo = t.value and u.purpose = 'work' and u.state = 'settled' order by u.begun_at desc, -cast(substr(u.id, 3) as integer) limit 1) from json_each(:ids) t

-- name: todo.settled_by
select t.value, (select max(r.seq) from touched c join receipt r on r.seq = c.seq where c.subject = t.value and r.verb in ('turn settle', 'review settle')) from json_each(:ids) t
