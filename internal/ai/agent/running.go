package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// A conversation has one running turn at most. It is named in the
// conversation's row, renews its claim there once a second, and saves what it
// has shown at the same time; so any replica can show it, stop it, or, when its
// process died, close it.

const (
	// turnLease is the time without a sign of life after which a turn's process
	// counts as dead. It also covers clocks of replicas that differ.
	turnLease = 15 * time.Second
	// takeOver is how long a new message waits for the turn that it stops.
	takeOver = 5 * time.Second
	// listenGrace is how long a turn runs that nobody listens to. It covers a
	// reload on a slow line and a short loss of the network; more would spend
	// tokens on an answer for nobody.
	listenGrace = 10 * time.Second
	// listenEvery is how often a listener gives a sign of presence. Within the
	// grace several of them may be lost.
	listenEvery = 2 * time.Second
)

const interruptedText = "The answer broke off here: Checkstack was stopped while it was being written. Look at the present state, then ask again."

var (
	// errStopped ends a turn that somebody asked to stop.
	errStopped = errors.New("the turn was stopped")
	// errUnheard ends a turn that nobody has listened to for the grace.
	errUnheard = errors.New("nobody listens to the turn")
	// errEnding ends a turn because its process ends.
	errEnding = errors.New("the process ends")
	// errLost ends a turn whose place another one has taken.
	errLost = errors.New("the turn lost its conversation")
	// errBusy says that a turn runs in the conversation.
	errBusy = problem.Conflict("The assistant is still working on the previous message. Wait for it or stop it")
)

// alive says whether the conversation's turn has a process.
func (c *Conversation) alive(now time.Time) bool {
	return c.TurnID != nil && c.TurnAliveAt != nil && now.Sub(*c.TurnAliveAt) < turnLease
}

// open claims the conversation for the turn, reserves what its first round will
// use when the connection has a cap, and stores the person's message, if there
// is one, with an empty answer behind it. errBusy means that another turn runs.
func (s *Service) open(ctx context.Context, t *turn, user *Message, u used) error {
	var rows []*messageRow
	if user != nil {
		row, err := encodeMessage(*user, nil)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	answer, err := encodeMessage(Message{ID: t.id, Role: llm.RoleAssistant, CreatedAt: t.now, Answers: t.answers}, t.crashNote(llm.Usage{}))
	if err != nil {
		return err
	}
	rows = append(rows, answer)
	now := db.Time(s.now())
	var active *time.Time
	if user != nil {
		active = &now
	}
	var reservation *spendRow
	if t.capped() {
		t.first = new(llm.Request)
		*t.first = t.request(false)
		row := t.reservation("", *t.first)
		reservation = &row
	}
	done, err := s.openAtOnce(ctx, t, reservation, rows, now, active, u)
	if err == nil && !done {
		err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if reservation != nil {
				if err := t.admitRound(ctx, tx, *reservation); err != nil {
					return err
				}
			}
			claim := s.claim(t, now, active, u)
			res, err := s.db.ExecPrepared(ctx, tx, claim.Query, claim.Args...)
			if err := db.MustAffect(res, err, errBusy); err != nil {
				return err
			}
			for _, row := range rows {
				if _, err := s.db.ExecPrepared(ctx, tx, appendStatement, s.appendArgs(t, row)...); err != nil {
					return fmt.Errorf("store message: %w", err)
				}
			}
			return nil
		})
	}
	if err == nil && reservation != nil {
		t.ledger.row = reservation.id
	}
	return err
}

// openAtOnce is open in one round trip, for a conversation that is free and a
// person far below the cap; false when that is not so, and nothing was written.
// Each step writes only if the one before it did.
func (s *Service) openAtOnce(ctx context.Context, t *turn, reservation *spendRow, rows []*messageRow, now time.Time, active *time.Time, u used) (bool, error) {
	claim := s.claim(t, now, active, u)
	steps := []db.Step{claim}
	if reservation != nil {
		room := t.room(*reservation)
		if room <= 0 {
			return false, nil
		}
		steps[0].Query += roomyWhere
		steps[0].Args = append(steps[0].Args, s.roomyArgs(t, room)...)
		steps = append(steps, db.Step{Query: reserveStatement, Args: append(s.spendArgs(*reservation), t.conv.ID, t.id)})
	}
	for _, row := range rows {
		steps = append(steps, db.Step{Query: appendStatement, Args: s.appendArgs(t, row)})
	}
	var stored []string
	if err := s.db.Together(ctx, &stored, steps...); err != nil {
		return false, fmt.Errorf("begin turn: %w", err)
	}
	return len(stored) > 0, nil
}

// claim is the statement that makes t the conversation's turn if none runs.
func (s *Service) claim(t *turn, now time.Time, active *time.Time, u used) db.Step {
	return db.Step{Query: openStatement, Args: []any{t.id, now, false, active, nullable(u.integrationID), nullable(u.model), nullable(u.title), t.conv.ID}}
}

const (
	openStatement = `UPDATE ai_conversations SET turn_id = ?, turn_alive_at = ?, turn_stop = ?, updated_at = coalesce(?, updated_at),
	integration_id = coalesce(?, integration_id), model = coalesce(?, model),
	title = CASE WHEN title IS NULL OR trim(title) = '' THEN coalesce(?, title) ELSE title END
	WHERE id = ? AND turn_id IS NULL AND archived_at IS NULL`
	ofTurn = ` WHERE EXISTS (SELECT 1 FROM ai_conversations WHERE id = ? AND turn_id = ?)`
	// reserveStatement and appendStatement write for the turn that holds the
	// conversation. Its row is locked, so each message has its own place.
	reserveStatement = spendColumns + "SELECT " + spendValues + ofTurn
	appendStatement  = `INSERT INTO ai_messages (id, conversation_id, seq, role, content, parts, model_messages, created_at)
	SELECT ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM ai_messages WHERE conversation_id = ?), ?, ?, ?, ?, ?` + ofTurn + ` RETURNING id`
)

func (s *Service) appendArgs(t *turn, r *messageRow) []any {
	return []any{r.ID, t.conv.ID, t.conv.ID, r.Role, string(r.Content), string(r.Parts), r.model(), r.CreatedAt, t.conv.ID, t.id}
}

// attend keeps the turn's claim and its stream alive until ctx ends, and stops
// the turn when it is asked to, or when its sender, whose presence is left, has
// gone and nobody else has listened for the grace.
func (t *turn) attend(ctx context.Context, left <-chan struct{}, stop context.CancelCauseFunc) {
	beat, quiet := time.NewTicker(t.s.heartbeat), time.NewTicker(t.s.keepAlive)
	defer beat.Stop()
	defer quiet.Stop()
	var heard time.Time // when somebody was there last; zero while the sender is
	var sign *time.Time // the last sign of another listener
	for {
		select {
		case <-ctx.Done():
			return
		case <-left:
			left, heard = nil, t.s.now()
		case <-quiet.C:
			t.out.comment()
		case <-beat.C:
			seen, cause, err := t.renew(ctx)
			if err == nil && seen != nil && (sign == nil || !seen.Equal(*sign)) {
				sign = seen
				if !heard.IsZero() {
					// The sign's own time comes from another clock.
					heard = t.s.now()
				}
			}
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				t.s.log.WarnContext(ctx, "running turn could not be renewed", "conversation_id", t.conv.ID, "error", err)
			case cause != nil:
				stop(cause)
			}
			if !heard.IsZero() && t.s.now().Sub(heard) >= t.s.listenGrace {
				stop(errUnheard)
			}
			t.mu.Lock()
			changed := t.changed
			t.mu.Unlock()
			if changed {
				t.save(ctx)
			}
		}
	}
}

// renew gives a sign of life, and hears of other listeners and whether the
// turn is to end, and why.
func (t *turn) renew(ctx context.Context) (seen *time.Time, cause, err error) {
	var rows []struct {
		TurnStop   bool
		TurnSeenAt *time.Time
	}
	err = t.s.db.ScanPrepared(ctx, t.s.db.Write, &rows, "UPDATE ai_conversations SET turn_alive_at = ? WHERE id = ? AND turn_id = ? RETURNING turn_stop, turn_seen_at",
		db.Time(t.s.now()), t.conv.ID, t.id)
	switch {
	case err != nil:
		return nil, nil, err
	case len(rows) == 0:
		return nil, errLost, nil
	case rows[0].TurnStop:
		return nil, errStopped, nil
	}
	return rows[0].TurnSeenAt, nil, nil
}

// listen tells the turn, on whichever replica it runs, that somebody follows it.
func (s *Service) listen(ctx context.Context, conversationID, turnID string) error {
	_, err := s.db.Write.NewRaw("UPDATE ai_conversations SET turn_seen_at = ? WHERE id = ? AND turn_id = ?",
		db.Time(s.now()), conversationID, turnID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("note listener: %w", err)
	}
	return nil
}

// crashNote is kept with a running answer, for whoever closes it when this
// process dies.
func (t *turn) crashNote(u llm.Usage) *crashNote {
	return &crashNote{Usage: u, ConnectionID: t.conn.ID, Model: t.modelID, Reserved: t.conn.Cap != nil}
}

// save stores what was shown so far. It must not fail the turn.
func (t *turn) save(ctx context.Context) {
	if t.conv.ID == "" || t.out.isHolding() {
		return
	}
	snap := t.snapshot()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	parts, err := storedParts(snap.parts)
	if err == nil {
		var row *messageRow
		m := Message{ID: t.id, Role: llm.RoleAssistant, Text: visibleText(snap.parts), Parts: parts, CreatedAt: t.now, Answers: t.answers, model: snap.added}
		if row, err = encodeMessage(m, t.crashNote(snap.usage)); err == nil {
			_, err = t.s.db.ExecPrepared(ctx, t.s.db.Write, "UPDATE ai_messages SET content = ?, parts = ?, model_messages = ? WHERE id = ?",
				string(row.Content), string(row.Parts), row.model(), t.id)
		}
	}
	if err != nil {
		t.s.log.ErrorContext(ctx, "running answer could not be saved", "conversation_id", t.conv.ID, "error", err)
	}
}

// finish stores what the turn showed and used, and gives the conversation
// free. It works for a browser that has gone, and never fails the turn.
func (t *turn) finish(ctx context.Context, failure error) {
	ending := errors.Is(context.Cause(ctx), errEnding)
	stopped := failure != nil && !ending && (ctx.Err() != nil || errors.Is(failure, context.Canceled))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	snap := t.snapshot()
	if t.out.isHolding() {
		snap.parts, snap.added = nil, nil // nobody has seen them
	}
	// What the person decided stays in the conversation, also without an answer.
	shown := t.answers != nil
	for _, p := range snap.parts {
		shown = shown || p.Type != partStep
	}
	m := Message{ID: t.id, Role: llm.RoleAssistant, Text: visibleText(snap.parts), Stopped: stopped, CreatedAt: t.now, Answers: t.answers, model: snap.added}
	if failure != nil && !stopped {
		m.Error = turnText(failure, ending)
	}
	var row *messageRow
	var err error
	if m.Parts, err = storedParts(snap.parts); err == nil {
		row, err = encodeMessage(m, nil)
	}
	// What was spent counts even when the answer cannot be kept.
	steps := t.spendSteps(snap.usage)
	now := db.Time(t.s.now())
	steps = append(steps, db.Step{Query: "UPDATE ai_conversations SET updated_at = ?, turn_id = CASE WHEN turn_id = ? THEN NULL ELSE turn_id END WHERE id = ?",
		Args: []any{now, t.id, t.conv.ID}})
	if !shown || row == nil {
		steps = append(steps, db.Step{Query: "DELETE FROM ai_messages WHERE id = ?", Args: []any{t.id}})
	} else {
		steps = append(steps, db.Step{Query: "UPDATE ai_messages SET content = ?, parts = ?, model_messages = ?, created_at = ? WHERE id = ?",
			Args: []any{string(row.Content), string(row.Parts), row.model(), now, t.id}})
	}
	if err != nil {
		t.s.log.ErrorContext(ctx, "assistant message could not be encoded", "conversation_id", t.conv.ID, "error", err)
	}
	if err := t.s.db.Together(ctx, nil, steps...); err != nil {
		t.s.log.ErrorContext(ctx, "assistant message could not be stored", "conversation_id", t.conv.ID, "error", err)
	}
}

// EndTurns ends the turns of this process, because it ends: those whose sender
// has gone hear of it by nothing else.
func (s *Service) EndTurns() {
	s.running.Range(func(_, stop any) bool {
		stop.(context.CancelCauseFunc)(errEnding)
		return true
	})
}

// turnText words a turn's failure for the person.
func turnText(failure error, ending bool) string {
	if ending {
		return interruptedText
	}
	return llm.UserText(failure)
}

// StopTurn asks the running turn of a person's conversation to end; false when
// none runs. On this replica it ends at once, on another within a second.
func (s *Service) StopTurn(ctx context.Context, userID, conversationID string) (bool, error) {
	var ids []string
	err := s.db.Write.NewRaw(`UPDATE ai_conversations SET turn_stop = ? WHERE id = ? AND user_id = ? AND turn_id IS NOT NULL RETURNING turn_id`,
		true, conversationID, userID).Scan(ctx, &ids)
	if err != nil {
		return false, fmt.Errorf("stop turn: %w", err)
	}
	if len(ids) == 0 {
		return false, nil
	}
	if stop, ok := s.running.Load(ids[0]); ok {
		stop.(context.CancelCauseFunc)(errStopped)
	}
	return true, nil
}

// vacate ends what runs in the conversation, because the same person goes on
// talking there: a live turn is stopped and waited for, a dead one closed.
func (s *Service) vacate(ctx context.Context, userID, id string) error {
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	deadline := time.NewTimer(s.takeOver)
	defer deadline.Stop()
	asked := false
	for {
		c, err := s.conversation(ctx, userID, id)
		if err != nil {
			return err
		}
		switch {
		case c.ArchivedAt != nil:
			return errNoConversation
		case c.TurnID == nil:
			return nil
		case !c.alive(s.now()):
			return s.closeTurn(ctx, c)
		case !asked:
			if asked, err = s.StopTurn(ctx, userID, id); err != nil {
				return err
			}
		}
		select {
		case <-poll.C:
		case <-deadline.C:
			return errBusy
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// closeTurn gives a conversation free whose turn has no process any more: what
// was shown is kept and marked, what was used is written down.
func (s *Service) closeTurn(ctx context.Context, c *Conversation) error {
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		cutoff := db.Time(s.now().Add(-turnLease))
		closed, err := affected(tx.NewRaw("UPDATE ai_conversations SET turn_id = NULL WHERE id = ? AND turn_id = ? AND turn_alive_at <= ?",
			c.ID, *c.TurnID, cutoff).Exec(ctx))
		if err != nil || !closed {
			return err
		}
		var rows []messageRow
		if err := tx.NewRaw("SELECT id, role, content, parts, model_messages, created_at FROM ai_messages WHERE id = ?", *c.TurnID).Scan(ctx, &rows); err != nil {
			return fmt.Errorf("read interrupted answer: %w", err)
		}
		if err := s.keepReserved(ctx, tx, c.ID); err != nil {
			return err
		}
		if len(rows) == 0 {
			return nil
		}
		var body content
		if err := json.Unmarshal(rows[0].Content, &body); err != nil {
			return fmt.Errorf("read interrupted answer: %w", err)
		}
		if n := body.Turn; n != nil && !n.Reserved && n.ConnectionID != BuiltinID && counts(n.Usage) {
			n.Usage.Estimated = true
			who := authz.Principal{Kind: authz.User, ID: c.UserID}
			if err := s.writeSpend(ctx, tx, spendRow{id: rows[0].ID, connectionID: n.ConnectionID, conversationID: c.ID, model: n.Model, who: who, usage: n.Usage}); err != nil {
				return err
			}
		}
		if string(rows[0].Parts) == "[]" && body.Answers == nil {
			_, err := tx.NewRaw("DELETE FROM ai_messages WHERE id = ?", rows[0].ID).Exec(ctx)
			return err
		}
		body.Turn, body.Error = nil, interruptedText
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		_, err = tx.NewRaw("UPDATE ai_messages SET content = ? WHERE id = ?", string(raw), rows[0].ID).Exec(ctx)
		return err
	})
	if err == nil {
		s.announce(ctx, c.UserID, c.ID)
	}
	return err
}

// Recover closes the turns that a process left behind, when it is certain that
// no process is left: an SQLite installation has one, which is just starting.
func (s *Service) Recover(ctx context.Context) error {
	if s.db.Postgres() {
		return s.Sweep(ctx)
	}
	if _, err := s.db.Write.NewRaw("UPDATE ai_conversations SET turn_alive_at = ? WHERE turn_id IS NOT NULL",
		db.Time(s.now().Add(-2*turnLease))).Exec(ctx); err != nil {
		return fmt.Errorf("give up interrupted turns: %w", err)
	}
	return s.Sweep(ctx)
}

// Sweep closes the turns of processes that died. Correctness never waits for
// it: a new message in such a conversation does the same.
func (s *Service) Sweep(ctx context.Context) error {
	var dead []Conversation
	err := s.db.Read.NewRaw("SELECT "+conversationColumns+` FROM ai_conversations WHERE turn_id IS NOT NULL AND turn_alive_at <= ? LIMIT 1000`,
		db.Time(s.now().Add(-turnLease))).Scan(ctx, &dead)
	if err != nil {
		return fmt.Errorf("find interrupted turns: %w", err)
	}
	var failed error
	for i := range dead {
		if err := s.closeTurn(ctx, &dead[i]); err != nil {
			failed = errors.Join(failed, fmt.Errorf("close turn of conversation %s: %w", dead[i].ID, err))
		}
	}
	return failed
}
