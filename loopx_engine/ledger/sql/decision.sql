-- name: decision.open
select * from "decision" where goal = :goal and state = 'open' order by created_at

-- name: decision.all_open
select * from "decision" where state = 'open' order by case risk when 'high' then 0 when 'medium' then 1 else 2 end, created_at limit :limit

-- name: decision.standing
select * from "decision" where goal = :goal and (state in ('open', 'answered') or (state in ('withdrawn', 'expired') and outcome = '' and blocks <> '[]') or (state = 'carried out' and blocks <> '[]' and (answer = 'no' or exists (select 1 from json_each(blocks) b join "todo" t on t.id = b.value where t.state in ('open', 'waiting', 'proving'))))) order by created_at limit 500

-- name: decision.signed
select * from "decision" where answer <> '' order by answered_at

-- name: decision.of_turn
select * from "decision" where turn = :turn order by created_at

-- name: decision.of_goal
select * from "decision" where goal = :goal order by created_at desc limit :limit

-- name: decision.due
select * from "decision" where (state = 'open' and expires <= :now) or (state in ('withdrawn', 'expired') and outcome = '' and blocks <> '[]')

-- name: decision.by_cause
select * from "decision" where goal = :goal and cause = :cause and state not in ('expired', 'withdrawn', 'void') limit 1
