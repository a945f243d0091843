-- name: effect.unsettled
select * from "effect" where state in ('intent', 'attempted', 'uncertain') order by created_at

-- name: effect.of_goal
select * from "effect" where goal = :goal order by created_at desc limit :limit

-- name: effect.unsettled_of_goal
select * from "effect" where goal = :goal and state in ('intent', 'attempted', 'uncertain') order by created_at

-- name: effect.uncertain
select id, goal from "effect" where state in ('intent', 'attempted', 'uncertain') and state = 'uncertain' order by created_at, id
