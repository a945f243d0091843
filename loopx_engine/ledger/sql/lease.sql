-- name: lease.held
select * from "lease" where goal = :goal and state = 'held'
