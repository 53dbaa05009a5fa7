package agent

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/checkstack/checkstack/internal/ai/scrub"
)

// play streams an opened turn. It outlives its request for as long as somebody
// else listens, see attend.
func (s *Service) play(request context.Context, w http.ResponseWriter, t *turn) {
	sender, leave := context.WithCancel(request)
	defer leave()
	ctx, stop := context.WithCancelCause(context.WithoutCancel(request))
	defer stop(nil)
	s.running.Store(t.id, stop)
	defer s.running.Delete(t.id)
	t.out = newStream(w, leave)
	alive, quiet := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.attend(alive, sender.Done(), stop)
	}()
	t.out.send(frame{Type: "start", MessageID: t.id})
	// Other pages of the person take part from now on.
	s.announce(ctx, t.who.ID, t.conv.ID)
	err := t.guard(ctx)
	if errors.Is(err, errOffTopic) {
		t.refuse(refusalText)
		err = nil
	}
	if err != nil && ctx.Err() == nil {
		attrs := append(failureAttrs(err), slog.String("conversation_id", t.conv.ID), slog.String("model", t.modelID),
			slog.String("connection_id", t.conn.ID))
		s.log.LogAttrs(ctx, slog.LevelError, "model round failed", attrs...)
	}
	// Nothing is saved behind what finish writes.
	quiet()
	<-done
	// Stored before the end is told, so that a page that then reads the
	// conversation finds the answer.
	t.finish(ctx, err)
	s.announce(ctx, t.who.ID, t.conv.ID)
	ending := errors.Is(context.Cause(ctx), errEnding)
	switch {
	case ctx.Err() != nil && err != nil && !ending:
		t.out.drop()
		t.out.send(frame{Type: "abort"})
	case err != nil:
		t.out.drop()
		t.out.send(frame{Type: "error", ErrorText: scrub.Prose(turnText(err, ending))})
	default:
		t.out.send(frame{Type: "finish"})
	}
	t.out.end()
}
