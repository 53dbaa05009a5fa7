package maintenance

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/zone"
)

const window = `"startAt":"2026-03-02T10:00:00Z","endAt":"2026-03-02T11:00:00Z"`

func TestEveryOperationsAnswers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Payments API")
		id := b.plan("Upgrade", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", sys)
		link := b.must("addLink", `{"maintenanceId":%q,"label":"Ticket","url":"https://tickets.example.com/1"}`, id)["id"].(string)
		first := b.must("createMaintenance", `{"title":"Weekly",`+window+`,"systemIds":[%q],"recurrence":{"rule":"FREQ=WEEKLY","timeZone":"UTC"}}`, sys)
		series := first["seriesId"].(string)
		long := strings.Repeat("x", 201)
		rows := []struct {
			name  string
			as    authz.Principal
			op    string
			input string
			kind  problem.Kind // zero: succeeds
			field string       // the path that must be named
		}{
			{"list", visitor, "listMaintenances", `{}`, 0, ""},
			{"list without the rule", nobody, "listMaintenances", `{}`, problem.KindForbidden, ""},
			{"list as a guest without the rule", guest, "listMaintenances", `{}`, problem.KindForbidden, ""},
			{"list an unknown status", reader, "listMaintenances", `{"status":"monitoring"}`, problem.KindInvalid, "status"},
			{"list with a bad cursor", reader, "listMaintenances", `{"cursor":"%%%"}`, problem.KindInvalid, "cursor"},
			{"list from a day", reader, "listMaintenances", `{"from":"2026-03-02"}`, problem.KindInvalid, "from"},
			{"list of an unknown system", reader, "listMaintenances", `{"systemId":"` + unknown + `"}`, 0, ""},
			{"get", visitor, "getMaintenance", `{"id":"` + id + `"}`, 0, ""},
			{"get nothing", reader, "getMaintenance", `{"id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"get no id", reader, "getMaintenance", `{"id":"1"}`, problem.KindInvalid, "id"},
			{"create", robot, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["` + sys + `"]}`, 0, ""},
			{"create as a reader", reader, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindForbidden, ""},
			{"create as a guest", guest, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindUnauthenticated, ""},
			{"create without systems", manager, "createMaintenance", `{"title":"X",` + window + `,"systemIds":[]}`, problem.KindInvalid, "systemIds"},
			{"create on an unknown system", manager, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["` + sys + `","` + unknown + `"]}`, problem.KindInvalid, "systemIds[1]"},
			{"create on what is no id", manager, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["Payments API"]}`, problem.KindInvalid, "systemIds[0]"},
			{"create blank", manager, "createMaintenance", `{"title":"  ",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindInvalid, "title"},
			{"create long", manager, "createMaintenance", `{"title":"` + long + `",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindInvalid, "title"},
			{"create with a control character", manager, "createMaintenance", `{"title":"a\u0007b",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindInvalid, "title"},
			{"create with an override of direction", manager, "createMaintenance", `{"title":"a\u202eb",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindInvalid, "title"},
			{"create with two lines", manager, "createMaintenance", `{"title":"a\nb",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindInvalid, "title"},
			{"create with a long description", manager, "createMaintenance", `{"title":"X","description":"` + strings.Repeat("x", 10_001) + `",` + window + `,"systemIds":["` + sys + `"]}`, problem.KindInvalid, "description"},
			{"create without an offset", manager, "createMaintenance", `{"title":"X","startAt":"2026-03-02T10:00:00","endAt":"2026-03-02T11:00:00Z","systemIds":["` + sys + `"]}`, problem.KindInvalid, "startAt"},
			{"create ending before it starts", manager, "createMaintenance", `{"title":"X","startAt":"2026-03-02T10:00:00Z","endAt":"2026-03-02T11:00:00+02:00","systemIds":["` + sys + `"]}`, problem.KindInvalid, "endAt"},
			{"create of no length", manager, "createMaintenance", `{"title":"X","startAt":"2026-03-02T10:00:00Z","endAt":"2026-03-02T12:00:00+02:00","systemIds":["` + sys + `"]}`, problem.KindInvalid, "endAt"},
			{"create shorter than is stored", manager, "createMaintenance", `{"title":"X","startAt":"2026-03-02T10:00:00.0001Z","endAt":"2026-03-02T10:00:00.0009Z","systemIds":["` + sys + `"]}`, problem.KindInvalid, "endAt"},
			{"create for years", manager, "createMaintenance", `{"title":"X","startAt":"2026-03-02T10:00:00Z","endAt":"2028-03-02T10:00:00Z","systemIds":["` + sys + `"]}`, problem.KindInvalid, "endAt"},
			{"create in a mistyped century", manager, "createMaintenance", `{"title":"X","startAt":"2206-03-02T10:00:00Z","endAt":"2206-03-02T11:00:00Z","systemIds":["` + sys + `"]}`, problem.KindInvalid, "startAt"},
			{"create at the end of time", manager, "createMaintenance", `{"title":"X","startAt":"9999-12-31T23:00:00Z","endAt":"9999-12-31T23:59:59Z","systemIds":["` + sys + `"]}`, problem.KindInvalid, "startAt"},
			{"create repeating badly", manager, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["` + sys + `"],"recurrence":{"rule":"FREQ=MINUTELY","timeZone":"Europe/Berlni"}}`, problem.KindInvalid, "recurrence.timeZone"},
			{"create repeating without end in sight", manager, "createMaintenance", `{"title":"X",` + window + `,"systemIds":["` + sys + `"],"recurrence":{"rule":"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30","timeZone":"UTC"}}`, problem.KindInvalid, "recurrence.rule"},
			{"update", manager, "updateMaintenance", `{"id":"` + id + `","title":"Upgrade 2"}`, 0, ""},
			{"update nothing", manager, "updateMaintenance", `{"id":"` + unknown + `","title":"X"}`, problem.KindNotFound, ""},
			{"update on an older version", manager, "updateMaintenance", `{"id":"` + id + `","version":1,"title":"Other"}`, problem.KindConflict, ""},
			{"update to no systems", manager, "updateMaintenance", `{"id":"` + id + `","systemIds":[]}`, problem.KindInvalid, "systemIds"},
			{"update to an unknown system", manager, "updateMaintenance", `{"id":"` + id + `","systemIds":["` + unknown + `"]}`, problem.KindInvalid, "systemIds[0]"},
			{"update the end before the start", manager, "updateMaintenance", `{"id":"` + id + `","endAt":"2026-03-02T09:00:00Z"}`, problem.KindInvalid, "endAt"},
			{"update to null", manager, "updateMaintenance", `{"id":"` + id + `","startAt":null}`, 0, ""},
			{"update as a reader", reader, "updateMaintenance", `{"id":"` + id + `","title":"X"}`, problem.KindForbidden, ""},
			{"add an update", manager, "addUpdate", `{"maintenanceId":"` + id + `","message":"Half way"}`, 0, ""},
			{"add an empty update", manager, "addUpdate", `{"maintenanceId":"` + id + `","message":" \n "}`, problem.KindInvalid, "message"},
			{"add an update for an unknown audience", manager, "addUpdate", `{"maintenanceId":"` + id + `","message":"x","audience":"everyone"}`, problem.KindInvalid, "audience"},
			{"add an update to nothing", manager, "addUpdate", `{"maintenanceId":"` + unknown + `","message":"x"}`, problem.KindNotFound, ""},
			{"add a script as link", manager, "addLink", `{"maintenanceId":"` + id + `","label":"x","url":"javascript:alert(1)"}`, problem.KindInvalid, "url"},
			{"add a link with a password", manager, "addLink", `{"maintenanceId":"` + id + `","label":"x","url":"https://u:p@example.com"}`, problem.KindInvalid, "url"},
			{"add a link to nothing", manager, "addLink", `{"maintenanceId":"` + unknown + `","label":"x","url":"https://example.com"}`, problem.KindNotFound, ""},
			{"remove a link of another", manager, "removeLink", `{"maintenanceId":"` + first["id"].(string) + `","id":"` + link + `"}`, problem.KindNotFound, ""},
			{"remove a link", manager, "removeLink", `{"maintenanceId":"` + id + `","id":"` + link + `"}`, 0, ""},
			{"bulk close nothing", manager, "bulkCloseMaintenances", `{"ids":[]}`, problem.KindInvalid, "ids"},
			{"bulk delete as a reader", reader, "bulkDeleteMaintenances", `{"ids":["` + id + `"]}`, problem.KindForbidden, ""},
			{"preview", manager, "previewRecurrence", `{` + window + `,"recurrence":{"rule":"FREQ=WEEKLY","timeZone":"UTC"}}`, 0, ""},
			{"preview a bad rule", manager, "previewRecurrence", `{` + window + `,"recurrence":{"rule":"weekly","timeZone":"UTC"}}`, problem.KindInvalid, "recurrence.rule"},
			{"preview as a reader", reader, "previewRecurrence", `{` + window + `,"recurrence":{"rule":"FREQ=WEEKLY","timeZone":"UTC"}}`, problem.KindForbidden, ""},
			{"local time", visitor, "checkLocalTime", `{"timeZone":"Europe/Berlin","local":"2026-03-29T02:30"}`, 0, ""},
			{"local time without the rule", nobody, "checkLocalTime", `{"timeZone":"Europe/Berlin","local":"2026-03-29T02:30"}`, problem.KindForbidden, ""},
			{"series", visitor, "getSeries", `{"id":"` + series + `"}`, 0, ""},
			{"series of nothing", reader, "getSeries", `{"id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"update a series of nothing", manager, "updateSeries", `{"id":"` + unknown + `","title":"X"}`, problem.KindNotFound, ""},
			{"update a series on an older version", manager, "updateSeries", `{"id":"` + series + `","version":9,"title":"X"}`, problem.KindConflict, ""},
			{"update a series from elsewhere", manager, "updateSeries", `{"id":"` + series + `","fromMaintenanceId":"` + id + `","title":"X"}`, problem.KindInvalid, "fromMaintenanceId"},
			{"update a series to overlap", manager, "updateSeries", `{"id":"` + series + `","rule":"FREQ=DAILY","endAt":"2026-03-04T11:00:00Z"}`, problem.KindInvalid, "rule"},
			{"end a series of nothing", manager, "endSeries", `{"id":"` + unknown + `"}`, problem.KindNotFound, ""},
			{"skip what does not repeat", manager, "skipOccurrence", `{"id":"` + id + `"}`, problem.KindConflict, ""},
			{"close", manager, "closeMaintenance", `{"id":"` + id + `"}`, 0, ""},
			{"delete as a reader", reader, "deleteMaintenance", `{"id":"` + id + `"}`, problem.KindForbidden, ""},
			{"delete", manager, "deleteMaintenance", `{"id":"` + id + `"}`, 0, ""},
			{"delete again", manager, "deleteMaintenance", `{"id":"` + id + `"}`, problem.KindNotFound, ""},
		}
		for _, r := range rows {
			_, err := b.call(r.as, r.op, r.input)
			if !isKind(err, r.kind) {
				t.Errorf("%s: got %v, want kind %v", r.name, err, r.kind)
			} else if r.field != "" && issue(err, r.field) == "" {
				t.Errorf("%s: got %v, want %s to be named", r.name, err, r.field)
			}
		}
		_, err := b.call(manager, "createMaintenance", `{"title":"","startAt":"2026-03-02T10:00:00Z","endAt":"2026-03-02T09:00:00Z","systemIds":[]}`)
		if p, _ := problem.As(err); p == nil || len(p.Issues) != 3 || issue(err, "endAt") != endAfterStart || issue(err, "systemIds") != "At least one system is required" {
			t.Errorf("three faults: %v", err)
		}
	})
}

// TestFC001_OffsetIsKept: an instant is stored as it was meant, whatever zone
// server and database session are in, by REST and by tool alike.
func TestFC001_OffsetIsKept(t *testing.T) {
	// Not parallel: it moves the server to New York.
	newYork, err := zone.Load("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	before := time.Local
	time.Local = newYork
	t.Cleanup(func() { time.Local = before })
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		if d.Postgres() {
			d.Write.SetMaxOpenConns(1) // so that all that follows is in this session
			if _, err := d.Write.NewRaw("SET TIME ZONE 'Asia/Kolkata'").Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		sys := b.system("S")
		input := `{"title":"Offset","startAt":"2026-06-01T10:00:00+02:00","endAt":"2026-06-01T11:30:00+02:00","systemIds":["` + sys + `"]}`
		byREST := b.done("createMaintenance", input)["id"].(string)
		byTool := b.applied("create", input)["id"].(string)
		for _, id := range []string{byREST, byTool} {
			m := b.get(id)
			if m["startAt"] != "2026-06-01T08:00:00Z" || m["endAt"] != "2026-06-01T09:30:00Z" {
				t.Errorf("reads back %v to %v, want 08:00Z to 09:30Z", m["startAt"], m["endAt"])
			}
			var stored []row
			if err := d.Read.NewSelect().Model(&stored).Where("id = ?", id).Scan(t.Context()); err != nil || !stored[0].StartAt.Equal(at(t, "2026-06-01T08:00:00Z")) {
				t.Errorf("stored %v, %v", stored, err)
			}
			// A change of the title leaves the instants alone (FC-002).
			b.must("updateMaintenance", `{"id":%q,"title":"Renamed"}`, id)
			if m := b.get(id); m["startAt"] != "2026-06-01T08:00:00Z" || m["endAt"] != "2026-06-01T09:30:00Z" {
				t.Errorf("after a change of the title: %v to %v", m["startAt"], m["endAt"])
			}
		}
		for _, bad := range []string{"2026-06-01T10:00:00", "2026-06-01", "tomorrow 10:00", "2026-06-01 10:00:00+02:00", "2026-02-30T10:00:00Z"} {
			in := strings.Replace(input, "2026-06-01T10:00:00+02:00", bad, 1)
			_, byREST := b.call(manager, "createMaintenance", in)
			_, byTool := b.preview("create", in)
			if issue(byREST, "startAt") == "" || issue(byREST, "startAt") != issue(byTool, "startAt") {
				t.Errorf("%s: REST says %v, the tool says %v; want one verdict on startAt", bad, byREST, byTool)
			}
		}
	})
}

func TestAudiences(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.plan("M", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", b.system("S"))
		for _, a := range []string{"public", "logged-in", "internal"} {
			b.must("addUpdate", `{"maintenanceId":%q,"message":%q,"audience":%q}`, id, a, a)
		}
		rows := []struct {
			name   string
			as     authz.Principal
			want   string
			author any
		}{
			{"a visitor", visitor, "public", nil},
			{"a reader", reader, "public, logged-in", nil},
			{"a manager", manager, "public, logged-in, internal", "Ann Example"},
		}
		for _, r := range rows {
			one, err := b.call(r.as, "getMaintenance", `{"id":"`+id+`"}`)
			if err != nil {
				t.Fatal(err)
			}
			many, err := b.call(r.as, "getBulkMaintenanceUpdates", `{"maintenanceIds":["`+id+`","`+unknown+`"]}`)
			if err != nil {
				t.Fatal(err)
			}
			byID := many["updates"].(map[string]any)
			for where, updates := range map[string][]map[string]any{"detail": list(one, "updates"), "bulk": list(byID, id)} {
				if got := fields(updates, "message"); got != r.want || updates[0]["createdByName"] != r.author || (r.author == nil && updates[0]["createdBy"] != nil) {
					t.Errorf("%s sees in the %s: %s by %v %v, want %s by %v", r.name, where, got, updates[0]["createdBy"], updates[0]["createdByName"], r.want, r.author)
				}
			}
			if none, ok := byID[unknown].([]any); !ok || len(none) != 0 {
				t.Errorf("updates of nothing: %v", byID[unknown])
			}
			acts, err := b.svc.RecentActivity(authz.With(t.Context(), r.as), 10)
			if err != nil || len(acts) != 1+strings.Count(r.want, ",")+1 {
				t.Errorf("%s sees %d things that happened, %v", r.name, len(acts), err)
			}
		}
		noSystems := authz.Principal{Rules: []string{"maintenance.maintenance.read"}}
		m, err := b.call(noSystems, "getMaintenance", `{"id":"`+id+`"}`)
		if err != nil || len(list(m, "systems")) != 0 || len(m["systemIds"].([]any)) != 1 {
			t.Errorf("who may not see systems sees %v, %v", m["systems"], err)
		}
	})
}

// TestVersions: fields and statuses raise the version, updates and links do not,
// and who comes second is refused.
func TestVersions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.plan("M", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", b.system("S"))
		step := func(want float64, op, input string) {
			t.Helper()
			b.done(op, strings.ReplaceAll(input, "ID", id))
			if got := b.get(id)["version"]; got != want {
				t.Errorf("version %v after %s, want %v", got, op, want)
			}
		}
		step(1, "addUpdate", `{"maintenanceId":"ID","message":"x"}`)
		step(1, "addLink", `{"maintenanceId":"ID","label":"x","url":"https://example.com"}`)
		step(1, "updateMaintenance", `{"id":"ID","version":1,"title":"M"}`) // nothing changes
		step(2, "updateMaintenance", `{"id":"ID","version":1,"title":"N"}`)
		step(3, "addUpdate", `{"maintenanceId":"ID","message":"x","statusChange":"in_progress"}`)
		if _, err := b.call(manager, "updateMaintenance", `{"id":"`+id+`","version":2,"title":"O"}`); !problem.Is(err, problem.KindConflict) {
			t.Errorf("second writer: %v", err)
		}
		step(4, "closeMaintenance", `{"id":"ID"}`)
	})
}

func TestListAndCursor(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s, other := b.system("S"), b.system("T")
		var want []string
		for i := range 25 {
			title := fmt.Sprintf("M%02d", i)
			start := at(t, "2026-03-02T10:00:00Z").Add(time.Duration(i/2) * time.Hour) // pairs share a start
			b.plan(title, start.Format(time.RFC3339), start.Add(90*time.Minute).Format(time.RFC3339), []string{s, other}[i%2])
			want = append(want, title)
		}
		b.plan("Ärger mit 100%_!", "2026-05-01T10:00:00Z", "2026-05-02T10:00:00Z", s)
		b.must("updateMaintenance", `{"id":%q,"status":"cancelled"}`, list(b.must("listMaintenances", `{"query":"M00"}`), "maintenances")[0]["id"])
		walk := func(input string) []string {
			t.Helper()
			var titles []string
			cursor := ""
			for range 20 {
				page := b.done("listMaintenances", `{"limit":4,`+input+cursor+`}`)
				for _, m := range list(page, "maintenances") {
					titles = append(titles, m["title"].(string))
				}
				if page["nextCursor"] == nil {
					return titles
				}
				cursor = fmt.Sprintf(`,"cursor":%q`, page["nextCursor"])
			}
			t.Fatalf("%s: no end", input)
			return nil
		}
		got := walk(`"sortOrder":"asc"`)
		if len(got) != 26 || !slices.Equal(slices.Sorted(slices.Values(got[:25])), want) || got[0] > "M01" || got[25] != "Ärger mit 100%_!" {
			t.Errorf("soonest first: %v", got)
		}
		back := walk(`"sortOrder":"desc"`)
		slices.Reverse(back)
		if !slices.Equal(back, got) {
			t.Errorf("latest first is not the reverse:\n%v\n%v", back, got)
		}
		for input, n := range map[string]int{
			`"open":true`: 25, `"open":false`: 1, `"status":"cancelled"`: 1, `"status":"in_progress"`: 0, `"systemId":"` + s + `"`: 14,
			`"query":"ÄRGER"`: 1, `"query":"100%_!"`: 1, `"query":"%"`: 1, `"query":"m1"`: 10, `"query":"nothing"`: 0,
			`"from":"2026-03-02T12:30:00Z","to":"2026-03-02T13:00:00Z"`: 2, // the window that ends at 12:30 is over, the one from 13:00 not yet there
			`"from":"2026-05-02T09:00:00Z"`:                             1, `"to":"2026-03-02T10:00:00Z"`: 0, `"from":"2027-01-01T00:00:00Z"`: 0,
			`"systemId":"` + unknown + `"`: 0,
		} {
			if got := walk(`"sortOrder":"desc",` + input); len(got) != n {
				t.Errorf("%s: %d, want %d: %v", input, len(got), n, got)
			}
		}
		soon := list(b.must("getMaintenancesForSystem", `{"systemId":%q}`, other), "maintenances")
		if len(soon) != 12 || soon[0]["title"] != "M01" {
			t.Errorf("for a system: %v", fields(soon, "title"))
		}
		bulk := b.must("getBulkMaintenancesForSystems", `{"systemIds":[%q,%q]}`, other, unknown)["maintenances"].(map[string]any)
		if len(list(bulk, other)) != perBulk || bulk[unknown] == nil {
			t.Errorf("for many systems: %v", bulk)
		}
		up, err := b.svc.Upcoming(t.Context(), 3)
		if err != nil || len(up) != 3 || up[0].Title != "M01" {
			t.Errorf("upcoming: %v, %v", up, err)
		}
	})
}

func FuzzCursor(f *testing.F) {
	f.Add("")
	f.Add((&cursor{1_790_000_000_000, unknown}).String())
	f.Add("eyJ0Ijo5MjIzMzcyMDM2ODU0Nzc1ODA3LCJpIjoieCJ9")
	f.Add("!!!")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor(s)
		if err != nil {
			if !problem.Is(err, problem.KindInvalid) || issue(err, "cursor") == "" {
				t.Fatalf("%q: %v", s, err)
			}
			return
		}
		if c == nil {
			return
		}
		again, err := parseCursor(c.String())
		if err != nil || *again != *c || c.at().Year() < 1900 || c.at().Year() > 2500 {
			t.Fatalf("%q reads as %v, again as %v, %v", s, c, again, err)
		}
	})
}

func TestBulkAndRefs(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s := b.system("S")
		open := b.plan("Zebra upgrade", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		done := b.plan("Upgrade database", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		other := b.plan("Downgrade", "2026-03-03T10:00:00Z", "2026-03-03T11:00:00Z", s)
		b.must("closeMaintenance", `{"id":%q,"message":"Done"}`, done)
		closed := b.must("bulkCloseMaintenances", `{"ids":[%q,%q,%q,%q]}`, open, done, unknown, open)
		if got := fields(list(closed, "results"), "status"); got != "closed, skipped, not_found" {
			t.Errorf("bulk close: %s", got)
		}
		found := b.must("searchMaintenanceRefs", `{"query":"grade"}`)
		if got := fields(list(found, "items"), "title"); got != "Downgrade, Upgrade database, Zebra upgrade" {
			t.Errorf("open first, then by title: %s", got)
		}
		found = b.must("searchMaintenanceRefs", `{"query":"UPG"}`)
		if got := fields(list(found, "items"), "title"); got != "Upgrade database, Zebra upgrade" {
			t.Errorf("beginning before the middle: %s", got)
		}
		if got := fields(list(b.must("searchMaintenanceRefs", `{"limit":1}`), "items"), "title"); got != "Downgrade" {
			t.Errorf("without a text: %s", got)
		}
		refs := b.must("resolveMaintenanceRefs", `{"ids":[%q,"nonsense",%q,%q,""]}`, other, unknown, done)
		if got := fields(list(refs, "readable"), "title") + " " + fields(list(refs, "readable"), "active"); got != "Downgrade, Upgrade database true, false" {
			t.Errorf("refs: %s", got)
		}
		deleted := b.must("bulkDeleteMaintenances", `{"ids":[%q,%q]}`, open, unknown)
		if got := fields(list(deleted, "results"), "status"); got != "deleted, not_found" {
			t.Errorf("bulk delete: %s", got)
		}
		if _, err := b.call(reader, "getMaintenance", `{"id":"`+open+`"}`); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("deleted, it answers %v", err)
		}
	})
}

func TestSystemDeletionTakesItOut(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s, other := b.system("S"), b.system("T")
		id := b.plan("M", "2026-03-01T11:00:00Z", "2026-03-02T11:00:00Z", s, other)
		alone := b.plan("Alone", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z", s)
		b.tick()
		lost, err := b.svc.DependentsOf(t.Context(), s)
		if want := `[its place in the maintenance "M", which is in progress its place in the maintenance "Alone", which is scheduled]`; err != nil || fmt.Sprint(lost) != want {
			t.Errorf("told before: %v, %v", lost, err)
		}
		if err := b.catalog.DeleteSystem(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if got := fields(list(b.get(id), "systems"), "name"); got != "T" {
			t.Errorf("systems left: %s", got)
		}
		if got := b.get(alone); len(got["systemIds"].([]any)) != 0 {
			t.Errorf("without systems: %v", got)
		}
		b.must("updateMaintenance", `{"id":%q,"title":"Still editable"}`, alone)
		b.clock.set(t, "2026-03-03T00:00:00Z")
		b.tick()
		if b.timeline(alone) != bothSteps {
			t.Errorf("without systems the clock does %s", b.timeline(alone))
		}
	})
}

// TestSideEffects is the table of spec/monitoring.md 9.4: what each action tells
// subscribers and browsers.
func TestSideEffects(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		client := jobs.New(d, log)
		if err := client.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		b := replica(t, d, client)
		told := make(chan string, 100)
		event.Subscribe(b.svc.bus, CreatedTopic, "test.created", func(_ context.Context, e event.Event[CreatedEvent]) error {
			told <- fmt.Sprintf("created %s %s on %d systems %s to %s repeats=%v", e.Payload.Title, e.Payload.Status, len(e.Payload.SystemIDs),
				e.Payload.StartAt.Format("15:04"), e.Payload.EndAt.Format("15:04"), e.Payload.SeriesID != nil)
			return nil
		})
		event.Subscribe(b.svc.bus, UpdatedTopic, "test.updated", func(_ context.Context, e event.Event[UpdatedEvent]) error {
			p := e.Payload
			change := ""
			if p.StatusChange != "" {
				change = fmt.Sprintf(" from %s to %s", p.PreviousStatus, p.StatusChange)
			}
			told <- fmt.Sprintf("%s %s%s update=%v", p.Action, p.Status, change, p.UpdateID != "")
			return nil
		})
		if err := client.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Stop(context.Background()) })
		expect := func(what, signals string, events ...string) {
			t.Helper()
			if got := b.signals.taken(); got != signals {
				t.Errorf("%s: signals %q, want %q", what, got, signals)
			}
			var got []string
			for range events {
				select {
				case e := <-told:
					got = append(got, e)
				case <-time.After(20 * time.Second):
					t.Fatalf("%s: waited for %v, got %v", what, events, got)
				}
			}
			slices.Sort(got)
			slices.Sort(events)
			if !slices.Equal(got, events) {
				t.Errorf("%s: got %q, want %q", what, got, events)
			}
		}
		s := b.system("S")
		b.clock.set(t, "2026-03-02T12:00:00Z")
		m := b.plan("M", "2026-03-02T12:10:00Z", "2026-03-02T12:20:00Z", s)
		expect("create", "created", "created M scheduled on 1 systems 12:10 to 12:20 repeats=false")
		b.must("updateMaintenance", `{"id":%q,"title":"N"}`, m)
		expect("edit", "updated", "updated scheduled update=false")
		b.must("addUpdate", `{"maintenanceId":%q,"message":"x"}`, m)
		expect("update", "updated", "updated scheduled update=true")
		b.must("addLink", `{"maintenanceId":%q,"label":"x","url":"https://example.com"}`, m)
		expect("link", "updated")
		b.clock.set(t, "2026-03-02T12:10:00Z")
		b.tick()
		expect("start", "updated", "updated in_progress from scheduled to in_progress update=true")
		b.clock.set(t, "2026-03-02T12:20:00Z")
		b.tick()
		expect("completion", "closed", "closed completed from in_progress to completed update=true")
		b.must("deleteMaintenance", `{"id":%q}`, m)
		expect("delete", "closed")

		b.plan("Slept", "2026-03-02T12:00:00Z", "2026-03-02T12:10:00Z", s)
		b.tick()
		expect("slept through", "created updated closed", "created Slept scheduled on 1 systems 12:00 to 12:10 repeats=false",
			"updated in_progress from scheduled to in_progress update=true", "closed completed from in_progress to completed update=true")
		m = b.plan("Early", "2026-03-02T12:00:00Z", "2026-03-02T13:10:00Z", s)
		b.tick()
		b.must("closeMaintenance", `{"id":%q}`, m)
		expect("close", "created updated closed", "created Early scheduled on 1 systems 12:00 to 13:10 repeats=false",
			"updated in_progress from scheduled to in_progress update=true", "closed completed from in_progress to completed update=true")
		m = b.plan("Off", "2026-03-03T12:00:00Z", "2026-03-03T13:10:00Z", s)
		b.must("updateMaintenance", `{"id":%q,"status":"cancelled"}`, m)
		expect("cancel", "created closed", "created Off scheduled on 1 systems 12:00 to 13:10 repeats=false", "closed cancelled from scheduled to cancelled update=true")
		first := b.must("createMaintenance", `{"title":"Daily","startAt":"2026-03-03T18:00:00Z","endAt":"2026-03-03T18:10:00Z","systemIds":[%q],"recurrence":{"rule":"FREQ=DAILY","timeZone":"UTC"}}`, s)
		expect("series", "created", "created Daily scheduled on 1 systems 18:00 to 18:10 repeats=true")
		b.must("skipOccurrence", `{"id":%q}`, first["id"])
		expect("skip", "closed", "closed cancelled from scheduled to cancelled update=true")

		// What is refused or rolled back tells nobody.
		_, _ = b.call(manager, "updateMaintenance", `{"id":"`+m+`","status":"scheduled"}`)
		_, _ = b.call(manager, "createMaintenance", `{"title":"X",`+window+`,"systemIds":["`+unknown+`"]}`)
		expect("refused", "")
		select {
		case e := <-told:
			t.Errorf("told without reason: %s", e)
		default:
		}
	})
}

// TestOperationNames keeps the contract with the web interface in view.
func TestOperationNames(t *testing.T) {
	t.Parallel()
	s := New(Deps{})
	var got []string
	for _, op := range s.Operations() {
		d := op.Declaration()
		got = append(got, d.Method+" "+strings.TrimPrefix(d.ID, "maintenance."))
		if (d.Kind == operation.Mutation) != (d.Access[0] == Manage && d.ID != "maintenance.previewRecurrence") {
			t.Errorf("%s asks for %s", d.ID, d.Access[0].ID)
		}
	}
	want := []string{"GET listMaintenances", "GET getMaintenance", "GET getMaintenancesForSystem", "POST getBulkMaintenancesForSystems", "POST getBulkMaintenanceUpdates",
		"POST createMaintenance", "PATCH updateMaintenance", "POST addUpdate", "POST closeMaintenance", "DELETE deleteMaintenance", "POST addLink", "DELETE removeLink",
		"POST bulkCloseMaintenances", "POST bulkDeleteMaintenances", "POST resolveMaintenanceRefs", "GET searchMaintenanceRefs", "POST previewRecurrence", "GET checkLocalTime",
		"GET listSeries", "GET getSeries", "PATCH updateSeries", "POST endSeries", "DELETE deleteSeries", "POST skipOccurrence"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}
