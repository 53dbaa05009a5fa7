package maintenance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/problem"
)

const bothSteps = "in_progress: Maintenance started automatically | completed: Maintenance completed automatically"

// TestStatusChangesByHand walks every pair of statuses over the three ways a
// person can change one.
func TestStatusChangesByHand(t *testing.T) {
	t.Parallel()
	statuses := []Status{Scheduled, InProgress, Completed, Cancelled}
	allowed := map[[2]Status]bool{
		{Scheduled, InProgress}: true, {Scheduled, Completed}: true, {Scheduled, Cancelled}: true,
		{InProgress, Completed}: true, {InProgress, Cancelled}: true,
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		for _, from := range statuses {
			for _, to := range statuses {
				for _, op := range []string{"updateMaintenance", "addUpdate"} {
					id := b.plan("M", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", sys)
					if from != Scheduled {
						b.must("updateMaintenance", `{"id":%q,"status":%q}`, id, from)
					}
					before := b.get(id)
					input := fmt.Sprintf(`{"id":%q,"status":%q}`, id, to)
					if op == "addUpdate" {
						input = fmt.Sprintf(`{"maintenanceId":%q,"message":"x","statusChange":%q}`, id, to)
					}
					_, err := b.call(manager, op, input)
					after := b.get(id)
					switch {
					case from == to:
						if err != nil || after["version"] != before["version"] {
							t.Errorf("%s %s to itself: %v, version %v to %v; want no change", op, from, err, before["version"], after["version"])
						}
					case allowed[[2]Status{from, to}]:
						updates := list(after, "updates")
						if err != nil || after["status"] != string(to) || updates[len(updates)-1]["statusChange"] != string(to) {
							t.Errorf("%s %s to %s: %v, now %v %v", op, from, to, err, after["status"], updates)
						}
					default:
						if !problem.Is(err, problem.KindConflict) || !strings.Contains(err.Error(), "new one") || after["status"] != string(from) || len(list(after, "updates")) != len(list(before, "updates")) {
							t.Errorf("%s %s to %s: %v, now %v; want it refused with a way out and nothing written", op, from, to, err, after["status"])
						}
					}
				}
				if from == to {
					continue
				}
			}
			id := b.plan("M", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", sys)
			if from != Scheduled {
				b.must("updateMaintenance", `{"id":%q,"status":%q}`, id, from)
			}
			_, err := b.call(manager, "closeMaintenance", fmt.Sprintf(`{"id":%q}`, id))
			if p, _ := problem.As(err); from.Open() != (err == nil) || (p != nil && p.Code() != codeClosed) {
				t.Errorf("close what is %s: %v", from, err)
			}
		}
	})
}

// TestClock holds what the clock does to windows of every shape; each row is
// planned at noon and looked at over and over.
func TestClock(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, start, end string
		ticks            []string // when the clock looks
		want             string   // status after each
		timeline         string
	}{
		{"on time", "12:10", "12:20", []string{"12:09", "12:10", "12:19", "12:20", "12:30"}, "scheduled in_progress in_progress completed completed", bothSteps},
		{"shorter than the pause between looks", "12:10", "12:11", []string{"12:09", "12:15", "12:16"}, "scheduled completed completed", bothSteps},
		{"wholly in the past", "11:00", "11:30", []string{"12:00", "12:01"}, "completed completed", bothSteps},
		{"slept through", "12:10", "12:20", []string{"18:00"}, "completed", bothSteps},
		{"begun in the past", "11:00", "13:00", []string{"12:00", "13:00"}, "in_progress completed", bothSteps},
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		at := func(hm string) string { return "2026-03-02T" + hm + ":00Z" }
		for _, r := range rows {
			b.clock.set(t, at("12:00"))
			id := b.plan(r.name, at(r.start), at(r.end), sys)
			var got []string
			for _, tick := range r.ticks {
				b.clock.set(t, at(tick))
				b.tick()
				b.tick() // a second look finds nothing to do
				got = append(got, b.get(id)["status"].(string))
			}
			if strings.Join(got, " ") != r.want || b.timeline(id) != r.timeline {
				t.Errorf("%s: %v with %s; want %s with %s", r.name, got, b.timeline(id), r.want, r.timeline)
			}
			for _, u := range list(b.get(id), "updates") {
				if u["createdBy"] != nil || u["audience"] != "public" {
					t.Errorf("%s: update %v; want no author, and public", r.name, u)
				}
			}
		}
	})
}

func TestMovedWhileInProgress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.clock.set(t, "2026-03-02T12:00:00Z")
		id := b.plan("M", "2026-03-02T12:00:00Z", "2026-03-02T13:00:00Z", b.system("S"))
		b.tick()
		for _, start := range []string{"2026-03-02T11:00:00Z", "2026-03-02T12:30:00Z"} {
			_, err := b.call(manager, "updateMaintenance", fmt.Sprintf(`{"id":%q,"startAt":%q}`, id, start))
			if got := issue(err, "startAt"); got != "The start cannot be changed: this maintenance has started" {
				t.Errorf("start to %s: %v", start, err)
			}
		}
		// The same instant, written otherwise, is no move.
		b.must("updateMaintenance", `{"id":%q,"startAt":"2026-03-02T13:00:00+01:00","title":"N"}`, id)
		b.must("updateMaintenance", `{"id":%q,"endAt":"2026-03-02T14:00:00Z"}`, id)
		b.clock.set(t, "2026-03-02T13:30:00Z")
		b.tick()
		if got := b.get(id)["status"]; got != "in_progress" {
			t.Errorf("after its end was moved later: %v", got)
		}
		b.must("updateMaintenance", `{"id":%q,"endAt":"2026-03-02T13:10:00Z"}`, id) // has passed
		b.tick()
		if got := b.timeline(id); got != bothSteps {
			t.Errorf("after its end was moved before now: %s", got)
		}
		_, err := b.call(manager, "updateMaintenance", fmt.Sprintf(`{"id":%q,"endAt":"2026-03-02T15:00:00Z"}`, id))
		if got := issue(err, "endAt"); got != "The end cannot be changed: this maintenance is completed" {
			t.Errorf("end of what is completed: %v", err)
		}
		b.must("updateMaintenance", `{"id":%q,"description":"What we learnt"}`, id)

		moved := b.plan("Later", "2026-03-02T14:00:00Z", "2026-03-02T15:00:00Z", b.system("T"))
		b.must("updateMaintenance", `{"id":%q,"startAt":"2026-03-03T14:00:00Z","endAt":"2026-03-03T15:00:00Z"}`, moved)
		b.clock.set(t, "2026-03-02T16:00:00Z")
		b.tick()
		if got := b.get(moved)["status"]; got != "scheduled" {
			t.Errorf("moved to the next day: %v at its first time", got)
		}
		b.must("updateMaintenance", `{"id":%q,"startAt":"2026-03-02T15:00:00Z","endAt":"2026-03-02T17:00:00Z"}`, moved)
		b.tick()
		if got := b.get(moved)["status"]; got != "in_progress" {
			t.Errorf("moved back over now: %v", got)
		}
	})
}

func TestSuppressesOnlyWhileInProgress(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.clock.set(t, "2026-03-02T12:00:00Z")
		s, other := b.system("S"), b.system("T")
		quiet := b.must("createMaintenance", `{"title":"Quiet","startAt":"2026-03-02T12:10:00Z","endAt":"2026-03-02T12:30:00Z","systemIds":[%q],"suppressNotifications":true}`, s)["id"].(string)
		// An overlapping window that does not ask for silence does not end it.
		b.plan("Loud", "2026-03-02T12:00:00Z", "2026-03-02T12:40:00Z", s)
		check := func(when string, suppresses, active bool) {
			t.Helper()
			b.clock.set(t, "2026-03-02T"+when+":00Z")
			b.tick()
			gotS, err1 := b.svc.Suppresses(t.Context(), s)
			gotA, err2 := b.svc.HasActive(t.Context(), s)
			if gotS != suppresses || gotA != active || errors.Join(err1, err2) != nil {
				t.Errorf("at %s: suppresses %v, active %v, %v; want %v, %v", when, gotS, gotA, errors.Join(err1, err2), suppresses, active)
			}
			if gotS, _ := b.svc.Suppresses(t.Context(), other); gotS {
				t.Errorf("at %s: another system is silenced", when)
			}
		}
		check("12:05", false, true)
		check("12:10", true, true)
		b.must("updateMaintenance", `{"id":%q,"suppressNotifications":false}`, quiet)
		check("12:11", false, true)
		b.must("updateMaintenance", `{"id":%q,"suppressNotifications":true}`, quiet)
		check("12:12", true, true)
		b.must("closeMaintenance", `{"id":%q}`, quiet)
		check("12:12", false, true)
		check("12:40", false, false)
		for _, id := range []string{unknown, "", "nonsense"} {
			if got, err := b.svc.Suppresses(t.Context(), id); got || err != nil {
				t.Errorf("system %q: %v, %v", id, got, err)
			}
		}
	})
}

// TestFC003_WindowOverTheClockChange: (c) lasts 60 minutes, (d) and is in
// progress for exactly those.
func TestFC003_WindowOverTheClockChange(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.clock.set(t, "2026-03-28T12:00:00Z")
		id := b.plan("Over the change", "2026-03-29T01:30:00+01:00", "2026-03-29T03:30:00+02:00", b.system("S"))
		m := b.get(id)
		if m["startAt"] != "2026-03-29T00:30:00Z" || m["endAt"] != "2026-03-29T01:30:00Z" {
			t.Fatalf("stored %v to %v, want 60 minutes from 00:30Z", m["startAt"], m["endAt"])
		}
		minutes := 0
		b.clock.set(t, "2026-03-29T00:00:00Z")
		for range 150 {
			b.tick()
			if active, _ := b.svc.HasActive(t.Context(), m["systemIds"].([]any)[0].(string)); active {
				minutes++
			}
			b.clock.move(time.Minute)
		}
		if minutes != 60 {
			t.Errorf("in progress for %d minutes, want 60", minutes)
		}
	})
}

// TestOneFailingWindowDoesNotStopOthers breaks one row and looks at the rest.
func TestOneFailingWindowDoesNotStopOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		b.clock.set(t, "2026-03-02T12:00:00Z")
		bad := b.plan("Bad", "2026-03-02T12:10:00Z", "2026-03-02T12:20:00Z", sys)
		good := b.plan("Good", "2026-03-02T12:11:00Z", "2026-03-02T12:20:00Z", sys)
		breakRow := fmt.Sprintf("CREATE TRIGGER broken BEFORE UPDATE ON maintenances WHEN old.id = '%s' BEGIN SELECT RAISE(ABORT, 'broken'); END", bad)
		mend := "DROP TRIGGER broken"
		if d.Postgres() {
			breakRow = fmt.Sprintf(`CREATE FUNCTION broken() RETURNS trigger AS $$ BEGIN RAISE 'broken'; END $$ LANGUAGE plpgsql;
				CREATE TRIGGER broken BEFORE UPDATE ON maintenances FOR EACH ROW WHEN (old.id = '%s') EXECUTE FUNCTION broken()`, bad)
			mend = "DROP TRIGGER broken ON maintenances"
		}
		if _, err := d.Write.NewRaw(breakRow).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.clock.set(t, "2026-03-02T12:15:00Z")
		failing := failures{}
		for range 2 {
			if err := b.svc.tick(t.Context(), failing); err != nil {
				t.Fatal(err)
			}
		}
		if b.get(bad)["status"] != "scheduled" || b.get(good)["status"] != "in_progress" || failing[bad].count != 1 {
			t.Errorf("bad is %v after %d attempts, good is %v", b.get(bad)["status"], failing[bad].count, b.get(good)["status"])
		}
		if _, err := d.Write.NewRaw(mend).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.clock.move(maxPause)
		if err := b.svc.tick(t.Context(), failing); err != nil {
			t.Fatal(err)
		}
		if b.get(bad)["status"] != "in_progress" || len(failing) != 0 {
			t.Errorf("mended, it is %v", b.get(bad)["status"])
		}
	})
}

// TestTwoReplicasMoveEachWindowOnce lets two services on one PostgreSQL race.
func TestTwoReplicasMoveEachWindowOnce(t *testing.T) {
	t.Parallel()
	d := dbtest.Postgres(t)
	one := setup(t, d)
	two := replica(t, d, jobs.New(d, slog.New(slog.DiscardHandler)))
	sys := one.system("S")
	one.clock.set(t, "2026-03-02T12:00:00Z")
	const n = 60
	ids := make([]string, n)
	for i := range ids {
		ids[i] = one.plan(fmt.Sprint("M", i), "2026-03-02T12:10:00Z", []string{"2026-03-02T12:11:00Z", "2026-03-02T12:20:00Z"}[i%2], sys)
	}
	series := one.must("createMaintenance", `{"title":"Daily","startAt":"2026-03-02T18:00:00Z","endAt":"2026-03-02T18:10:00Z","systemIds":[%q],"recurrence":{"rule":"FREQ=DAILY","timeZone":"UTC"}}`, sys)["seriesId"]
	for _, when := range []string{"2026-03-02T12:15:00Z", "2026-03-02T12:25:00Z", "2026-04-02T12:25:00Z"} {
		one.clock.set(t, when)
		two.clock.set(t, when)
		var wg sync.WaitGroup
		for _, b := range []*bundle{one, two, one, two} {
			wg.Go(func() {
				if err := b.svc.Tick(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	for _, id := range ids {
		if got := one.timeline(id); got != bothSteps {
			t.Errorf("%s: %s", id, got)
		}
	}
	var counts struct{ All, Keys int }
	if err := d.Read.NewRaw("SELECT count(*) AS all, count(DISTINCT occurrence_key) AS keys FROM maintenances WHERE series_id = ?", series).Scan(t.Context(), &counts); err != nil {
		t.Fatal(err)
	}
	if counts.All != counts.Keys || counts.All != 31+horizonDays {
		t.Errorf("%d occurrences on %d days, want %d on as many", counts.All, counts.Keys, 31+horizonDays)
	}
}

// TestLoopMovesByItself starts the loop and waits for what it does, with the
// real clock.
func TestLoopMovesByItself(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.svc.now = time.Now
		if err := b.svc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.svc.Start(t.Context()); err == nil {
			t.Error("started twice")
		}
		now := time.Now()
		id := b.plan("Soon", now.Add(200*time.Millisecond).UTC().Format(time.RFC3339Nano), now.Add(400*time.Millisecond).UTC().Format(time.RFC3339Nano), b.system("S"))
		deadline := time.After(20 * time.Second)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for b.get(id)["status"] != "completed" {
			select {
			case <-deadline:
				t.Fatalf("after 20 s: %s", b.timeline(id))
			case <-tick.C:
			}
		}
		m := b.get(id)
		planned, real := at(t, m["endAt"].(string)), at(t, m["endedAt"].(string))
		if late := real.Sub(planned); late < 0 || late > 3*time.Second {
			t.Errorf("ended %s after its end", late)
		}
		for range 2 {
			if err := b.svc.Stop(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

// TestFullTimelineDoesNotHoldUpStatus fills a timeline: it takes no more words,
// and a word that comes with a new status all the same.
func TestFullTimelineDoesNotHoldUpStatus(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.plan("M", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", b.system("S"))
		rows := make([]string, maxUpdates)
		for i := range rows {
			rows[i] = fmt.Sprintf("('u%04d', '%s', 'm', 'public', '2026-01-01 00:00:00')", i, id)
		}
		if _, err := d.Write.NewRaw("INSERT INTO maintenance_updates (id, maintenance_id, message, audience, created_at) VALUES " + strings.Join(rows, ",")).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, status := range []string{"", `,"statusChange":"scheduled"`} {
			if _, err := b.call(manager, "addUpdate", fmt.Sprintf(`{"maintenanceId":%q,"message":"m"%s}`, id, status)); !problem.Is(err, problem.KindConflict) {
				t.Errorf("update 1001%s: %v", status, err)
			}
		}
		b.must("addUpdate", `{"maintenanceId":%q,"message":"called off","statusChange":"cancelled"}`, id)
		if got := b.get(id); got["status"] != "cancelled" {
			t.Errorf("status %v, want cancelled", got["status"])
		}
	})
}
