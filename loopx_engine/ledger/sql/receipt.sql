-- name: receipt.last_of_stream
select number, hash from receipt where stream = :stream order by number desc limit 1

-- name: receipt.of_command
select * from receipt where command = :command order by seq

-- name: receipt.after
select * from receipt where seq > :after order by seq limit :limit

-- name: receipt.after_in_stream
select * from receipt where seq > :after and stream = :stream order by seq limit :limit

-- name: receipt.last
select * from receipt order by seq desc limit :limit

-- name: receipt.last_in_stream
select * from receipt where stream = :stream order by number desc limit :limit

-- name: receipt.last_of_subject
select r.* from touched t join receipt r on r.seq = t.seq where t.subject = :subject order by t.seq desc limit :limit

-- name: receipt.one
select * from receipt where seq = :seq

-- name: receipt.top
select max(seq) from receipt

-- name: receipt.add
insert into receipt (seq, stream, number, at, actor, turn, strength, command, verb, intent, grant_id, undo, payload_digest, hash) values (:seq, :stream, :number, :at, :actor, :turn, :strength, :command, :verb, :intent, :grant_id, :undo, :payload_digest, :hash)

-- name: receipt.payload
select body from payload where seq = :seq

-- name: receipt.add_payload
insert into payload (seq, body) values (:seq, :body)

-- name: receipt.touch
insert or ignore into touched (subject, seq) values (:subject, :seq)

-- name: receipt.previous
select hash from receipt where stream = :stream and number = :number

-- name: receipt.newer
select 1 from receipt where stream = :stream and seq > :after and verb <> 'wake set' limit 1

-- name: receipt.told
select seq, at, verb from receipt where stream = :stream order by number desc limit :limit

-- name: receipt.first_of_subject
select min(seq) from touched where subject = :subject
