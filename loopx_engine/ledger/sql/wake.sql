-- name: wake.due
select * from "wake" where due <= :now order by due

-- name: wake.next
select min(w.due) from "wake" w join "goal" g on g.id = w.id where g.phase = 'active'

-- name: wake.all
select w.* from "wake" w join "goal" g on g.id = w.id where g.phase = 'active' order by w.due

-- name: wake.of
select due from "wake" where id = :goal

-- name: wake.of_goals
select w.id, w.due from json_each(:goals) g join "wake" w on w.id = g.value
