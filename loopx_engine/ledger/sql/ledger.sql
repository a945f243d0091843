-- name: ledger.meta
select value from meta where key = :key

-- name: ledger.set_meta
insert into meta (key, value) values (:key, :value) on conflict (key) do update set value = excluded.value

-- name: ledger.next
insert into sequence (kind, last) values (:kind, 1) on conflict (kind) do update set last = last + 1 returning last

-- name: ledger.counter
select value from counter where goal = :goal and name = :name

-- name: ledger.count
insert into counter (goal, name, value) values (:goal, :name, :delta) on conflict (goal, name) do update set value = value + excluded.value

-- name: ledger.renew
update "lease" set expires = :expires where id = :id and epoch = :epoch and state = 'held'

-- name: ledger.index_words
insert into searched (kind, id, goal, words) values (:kind, :id, :goal, :words)

-- name: ledger.drop_words
delete from searched where id = :id

-- name: ledger.search
select s.kind, s.id, s.goal, s.words from search f join searched s on s.row = f.rowid where search match :match order by f.rowid desc limit :limit

-- name: ledger.search_goal
select s.kind, s.id, s.goal, s.words from search f join searched s on s.row = f.rowid where search match :match and s.goal = :goal order by f.rowid desc limit :limit
