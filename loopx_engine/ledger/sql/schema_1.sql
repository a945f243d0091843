-- The first schema. Never edited after a release: a later one is a migration of its own.

create table meta (key text primary key not null, value text not null) strict, without rowid;

create table sequence (kind text primary key not null, last integer not null) strict, without rowid;

create table counter (goal text not null, name text not null, value integer not null, primary key (goal, name)) strict, without rowid;

create table receipt (
  seq integer primary key,
  stream text not null,
  number integer not null,
  at integer not null,
  actor text not null,
  turn text not null,
  strength text not null,
  command text not null,
  verb text not null,
  intent blob not null,
  grant_id text not null,
  undo integer not null check (undo in (0, 1)),
  payload_digest blob not null,
  hash blob not null
) strict;
create unique index receipt_stream on receipt (stream, number);
create index receipt_command on receipt (command);
create index receipt_grant on receipt (grant_id) where grant_id <> '';

create table payload (seq integer primary key, body text not null) strict;

create table touched (subject text not null, seq integer not null, primary key (subject, seq)) strict, without rowid;

create trigger receipt_kept_update before update on receipt begin select raise(abort, 'a receipt is never changed'); end;
create trigger receipt_kept_delete before delete on receipt begin select raise(abort, 'a receipt is never removed'); end;

create table searched (row integer primary key, kind text not null, id text not null unique, goal text not null, words text not null) strict;
create virtual table search using fts5 (words, content = 'searched', content_rowid = 'row', tokenize = 'unicode61');
create trigger searched_insert after insert on searched begin insert into search (rowid, words) values (new.row, new.words); end;
create trigger searched_delete after delete on searched begin insert into search (search, rowid, words) values ('delete', old.row, old.words); end;

create table "actor" (
  "id" text primary key not null,
  "kind" text not null,
  "role" text not null,
  "name" text not null,
  "host" text not null,
  "instance" text not null,
  "public_key" text not null,
  "token_hash" text not null,
  "state" text not null,
  "runtime" text not null,
  "argv" text not null check (json_valid("argv")),
  "model" text not null,
  "mode" text not null,
  "account" text not null,
  "capabilities" text not null check (json_valid("capabilities")),
  "created_at" integer not null
) strict, without rowid;

create table "project" (
  "id" text primary key not null,
  "root" text not null,
  "name" text not null,
  "identity" text not null,
  "remotes" text not null check (json_valid("remotes")),
  "setup" text not null check (json_valid("setup")),
  "environment" text not null check (json_valid("environment")),
  "state" text not null,
  "created_at" integer not null
) strict, without rowid;

create table "place" (
  "id" text primary key not null,
  "goal" text not null,
  "project" text not null,
  "kind" text not null,
  "path" text not null,
  "branch" text not null,
  "base" text not null,
  "head" text not null,
  "state" text not null,
  "reason" text not null,
  "sandbox" text not null,
  "holds" text,
  "created_at" integer not null
) strict, without rowid;

create table "goal" (
  "id" text primary key not null,
  "title" text not null,
  "objective" text not null,
  "project" text not null,
  "place_kind" text not null,
  "phase" text not null,
  "priority" integer not null,
  "revision" integer not null,
  "generation" integer not null,
  "autonomy" text not null,
  "agents" text not null check (json_valid("agents")),
  "reviewers" text not null check (json_valid("reviewers")),
  "check" text,
  "network" integer not null check ("network" in (0, 1)),
  "budget_turns" integer not null,
  "budget_days" integer not null,
  "budget_tokens" integer,
  "budget_cost" integer,
  "plan" text not null,
  "created_by" text not null,
  "created_at" integer not null,
  "active_since" integer,
  "ended_at" integer,
  "stopped" integer not null check ("stopped" in (0, 1)),
  "note" text not null
) strict, without rowid;

create table "criterion" (
  "id" text primary key not null,
  "goal" text not null,
  "number" integer not null,
  "text" text not null,
  "check" text,
  "state" text not null,
  "evidence" text,
  "failed_tree" text not null,
  "reason" text not null
) strict, without rowid;

create table "todo" (
  "id" text primary key not null,
  "goal" text not null,
  "kind" text not null,
  "title" text not null,
  "body" text not null,
  "state" text not null,
  "rank" integer not null,
  "serves" text not null check (json_valid("serves")),
  "needs" text not null check (json_valid("needs")),
  "wait" text,
  "scopes" text not null check (json_valid("scopes")),
  "capabilities" text not null check (json_valid("capabilities")),
  "check" text,
  "excluded" text not null check (json_valid("excluded")),
  "successor_of" text,
  "successor" text,
  "no_successor" text not null,
  "proof" text not null,
  "evidence" text,
  "commit" text not null,
  "wip" text not null,
  "stalls" integer not null,
  "failures" integer not null,
  "frontiers" text not null check (json_valid("frontiers")),
  "review" text not null,
  "claimed_by" text not null,
  "signed" integer not null check ("signed" in (0, 1)),
  "added_by" text not null,
  "created_at" integer not null,
  "ended_at" integer
) strict, without rowid;

create table "lease" (
  "id" text primary key not null,
  "goal" text not null,
  "actor" text not null,
  "instance" text not null,
  "turn" text not null,
  "place" text,
  "epoch" integer not null,
  "state" text not null,
  "expires" integer not null,
  "taken_at" integer not null
) strict, without rowid;

create table "session" (
  "id" text primary key not null,
  "runtime" text not null,
  "runtime_session" text not null,
  "actor" text not null,
  "goal" text not null,
  "last_turn" text not null
) strict, without rowid;

create table "turn" (
  "id" text primary key not null,
  "goal" text not null,
  "actor" text not null,
  "runtime" text not null,
  "session" text,
  "todo" text,
  "place" text,
  "purpose" text not null,
  "basis" integer not null,
  "generation" integer not null,
  "epoch" integer not null,
  "state" text not null,
  "result" text not null,
  "reason" text not null,
  "summary" text not null,
  "attended" integer not null check ("attended" in (0, 1)),
  "claim" text check ("claim" is null or json_valid("claim")),
  "claimed_by" text not null,
  "mends" integer not null,
  "tries" integer not null,
  "tag" text not null,
  "token_hash" text not null,
  "pid" integer,
  "pid_started" text not null,
  "sandbox" text not null,
  "tree" text not null,
  "frontier" text not null,
  "transcript" text not null,
  "input_tokens" integer,
  "output_tokens" integer,
  "cost" integer,
  "begun_at" integer not null,
  "deadline" integer not null,
  "ended_at" integer
) strict, without rowid;

create table "check" (
  "id" text primary key not null,
  "goal" text not null,
  "argv" text not null check (json_valid("argv")),
  "cwd" text not null,
  "timeout" integer not null,
  "inputs" text not null check (json_valid("inputs")),
  "protects" text not null check (json_valid("protects")),
  "network" integer not null check ("network" in (0, 1)),
  "environment" text not null check (json_valid("environment")),
  "set_by" text not null,
  "set_at" integer not null,
  "baseline" text not null,
  "baseline_tail" text not null,
  "role" text not null,
  "state" text not null
) strict, without rowid;

create table "evidence" (
  "id" text primary key not null,
  "goal" text not null,
  "todo" text,
  "criterion" text,
  "turn" text,
  "check" text,
  "kind" text not null,
  "ref" text not null,
  "subject" text not null,
  "tree" text not null,
  "outcome" text not null,
  "exit" integer,
  "tail" text not null,
  "count" integer,
  "made_by" text not null,
  "verified_by" text not null,
  "sandbox" text not null,
  "started_at" integer,
  "at" integer not null,
  "state" text not null,
  "stale_reason" text not null
) strict, without rowid;

create table "decision" (
  "id" text primary key not null,
  "goal" text not null,
  "kind" text not null,
  "question" text not null,
  "why" text not null,
  "options" text not null check (json_valid("options")),
  "effect" text check ("effect" is null or json_valid("effect")),
  "commands" text not null check (json_valid("commands")),
  "basis" text not null,
  "risk" text not null,
  "rule" text not null,
  "blocks" text not null check (json_valid("blocks")),
  "asked_by" text not null,
  "turn" text,
  "ask_ref" text not null,
  "cause" text not null,
  "asked" integer not null,
  "state" text not null,
  "answer" text not null,
  "answer_text" text not null,
  "reason" text not null,
  "proof" text check ("proof" is null or json_valid("proof")),
  "outcome" text not null,
  "created_at" integer not null,
  "expires" integer not null,
  "snoozed_until" integer,
  "answered_at" integer
) strict, without rowid;

create table "grant" (
  "id" text primary key not null,
  "kind" text not null,
  "pattern" text not null,
  "effect" text not null,
  "goal" text,
  "expires" integer not null,
  "uses" integer not null,
  "state" text not null,
  "decision" text,
  "proof" text check ("proof" is null or json_valid("proof")),
  "created_by" text not null,
  "created_at" integer not null
) strict, without rowid;

create table "effect" (
  "id" text primary key not null,
  "goal" text not null,
  "todo" text,
  "turn" text,
  "decision" text,
  "grant" text,
  "action" text not null,
  "params" text not null check (json_valid("params")),
  "digest" text not null,
  "key" text not null,
  "state" text not null,
  "detail" text not null,
  "value" text not null,
  "created_at" integer not null,
  "attempted_at" integer,
  "ended_at" integer
) strict, without rowid;

create table "wake" (
  "id" text primary key not null,
  "due" integer not null,
  "pace" text not null,
  "cause" text not null,
  "verdict" text not null,
  "repeats" integer not null,
  "generation" integer not null
) strict, without rowid;

create table "limit" (
  "id" text primary key not null,
  "until" integer not null,
  "source" text not null,
  "probes" integer not null,
  "state" text not null
) strict, without rowid;

create table "message" (
  "id" text primary key not null,
  "goal" text not null,
  "origin" text not null,
  "author" text not null,
  "to" text not null,
  "text" text not null,
  "correction" integer not null check ("correction" in (0, 1)),
  "acts_on" text not null,
  "turn" text not null,
  "state" text not null,
  "created_at" integer not null
) strict, without rowid;

create table "file" (
  "id" text primary key not null,
  "goal" text not null,
  "turn" text not null,
  "path" text not null,
  "digest" text not null,
  "role" text not null
) strict, without rowid;

create table "handoff" (
  "id" text primary key not null,
  "goal" text not null,
  "todo" text not null,
  "giver" text not null,
  "to" text not null,
  "note" text not null,
  "evidence" text not null check (json_valid("evidence")),
  "state" text not null,
  "created_at" integer not null,
  "expires" integer not null
) strict, without rowid;

create table "watch" (
  "id" text primary key not null,
  "goal" text not null,
  "todo" text not null,
  "actor" text not null,
  "argv" text not null check (json_valid("argv")),
  "glob" text not null,
  "every" integer not null,
  "due" integer not null,
  "digest" text not null,
  "unchanged" integer not null,
  "generation" integer not null,
  "state" text not null,
  "expires" integer not null
) strict, without rowid;

create index todo_open on "todo" (goal, rank) where state = 'open';
create index todo_unfinished on "todo" (goal, rank) where state in ('open', 'waiting', 'proving');
create index todo_goal on "todo" (goal, rank);
create index todo_followed on "todo" (goal, ended_at) where state = 'done' and successor is null and no_successor = '';
create index todo_listed on "todo" (goal, (state = 'dropped'), rank, id);
create index criterion_goal on "criterion" (goal, number);
create index lease_held on "lease" (goal) where state = 'held';
create index turn_live on "turn" (begun_at) where state in ('open', 'finishing');
create index turn_lost on "turn" (begun_at) where state = 'lost';
create index turn_goal on "turn" (goal, begun_at);
create index turn_todo on "turn" (todo, begun_at) where todo is not null;
create unique index turn_token on "turn" (token_hash) where token_hash <> '';
create unique index actor_token on "actor" (token_hash) where token_hash <> '';
create index actor_name on "actor" (name);
create index decision_goal on "decision" (goal, created_at);
create index decision_open on "decision" (created_at) where state = 'open';
create index decision_asked on "decision" (goal, created_at) where state = 'open';
create index decision_answered on "decision" (answered_at) where answered_at is not null;
create index decision_loose on "decision" (expires) where state in ('open', 'withdrawn', 'expired');
create index evidence_todo on "evidence" (todo, at) where todo is not null;
create index evidence_goal on "evidence" (goal, at);
create index evidence_check on "evidence" ("check", at) where "check" is not null;
create index effect_unsettled on "effect" (created_at) where state in ('intent', 'attempted', 'uncertain');
create index effect_goal on "effect" (goal, created_at);
create index grant_live on "grant" (created_at) where state = 'live';
create index grant_decision on "grant" (decision) where decision is not null;
create index message_goal on "message" (goal, created_at);
create index place_goal on "place" (goal);
create index place_broken on "place" (created_at) where state = 'broken';
create index check_goal on "check" (goal);
create index goal_active on "goal" (priority) where phase = 'active';
create index goal_own on "goal" (project, (case phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end), priority, (-cast(substr(id, 3) as integer))) where phase <> 'archived';
create index goal_listed on "goal" ((case phase when 'active' then 0 when 'draft' then 1 when 'paused' then 2 when 'done' then 3 else 4 end), priority, (-cast(substr(id, 3) as integer)), project) where phase <> 'archived';
create index wake_due on "wake" (due);
create index handoff_offered on "handoff" (goal) where state = 'offered';
create index watch_goal on "watch" (goal);
create index session_goal on "session" (goal, actor);
