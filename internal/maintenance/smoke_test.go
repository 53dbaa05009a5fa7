package maintenance

import (
	"testing"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestSmoke(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Payments")
		id := b.plan("Upgrade", "2026-03-01T13:00:00+01:00", "2026-03-01T13:30:00Z", sys)
		t.Log(b.get(id))
		b.tick()
		t.Log(b.get(id)["status"], b.timeline(id))
		b.clock.set(t, "2026-03-01T14:00:00Z")
		b.tick()
		t.Log(b.get(id)["status"], b.timeline(id), b.signals.taken())
		m := b.must("createMaintenance", `{"title":"Weekly","startAt":"2026-03-02T21:00:00Z","endAt":"2026-03-02T22:00:00Z","systemIds":[%q],"recurrence":{"rule":"FREQ=WEEKLY","timeZone":"europe/berlin"}}`, sys)
		t.Log(m)
		l := b.must("listMaintenances", `{"sortOrder":"asc"}`)
		t.Log(fields(list(l, "maintenances"), "startAt"))
		t.Log(b.must("previewRecurrence", `{"startAt":"2026-03-02T01:30:00Z","endAt":"2026-03-02T02:30:00Z","recurrence":{"rule":"FREQ=WEEKLY;BYDAY=SU","timeZone":"Europe/Berlin"}}`))
		t.Log(b.must("checkLocalTime", `{"timeZone":"Europe/Berlin","local":"2026-03-29T02:30"}`))
		t.Log(b.must("checkLocalTime", `{"timeZone":"Europe/Berlin","local":"2026-10-25T02:30"}`))
		t.Log(b.must("getMaintenancesForSystem", `{"systemId":%q}`, sys)["maintenances"].([]any)[0])
		t.Log(b.must("updateMaintenance", `{"id":%q,"title":"Other"}`, m["id"])["detached"])
		t.Log(b.must("getSeries", `{"id":%q}`, m["seriesId"]))
		t.Log(b.must("updateSeries", `{"id":%q,"startAt":"2026-03-11T20:00:00Z"}`, m["seriesId"]))
		t.Log(fields(list(b.must("listMaintenances", `{"sortOrder":"asc"}`), "maintenances"), "startAt"))
	})
}
