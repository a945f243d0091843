-- name: limit.waiting
select * from "limit" where state = 'waiting'
