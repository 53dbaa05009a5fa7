package builtin

import (
	"strings"
	"testing"
)

//nolint:misspell // the slips are what is tested
func TestSlipsOfTheKeyboard(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"delte system Billing":                                  readSystems + ` ; catalog_deleteSystem {"id":"s2"}`,
		"please creat system Shop":                              readSystems + ` ; catalog_createSystem {"name":"Shop"}`,
		"resovle incident Slow invoices":                        incident(`resolve {"id":"i2"}`),
		"update incidnet i2: we delte it":                       incident(`addUpdate {"incidentId":"i2","message":"we delte it"}`),
		"shedule maintainance for Billing tomorrow 22:00-23:30": planned(`"endAt":"2026-12-01T23:30:00+01:00","startAt":"2026-12-01T22:00:00+01:00","systemIds":["s2"],"title":"Maintenance of Billing"`),
		"extned maintenence DB upgrade by 30 minutes":           upkeep(`update {"endAt":"2026-12-06T00:00:00+01:00","id":"m1"}`),
		"list sytems": readSystems,
		// A name is no slip, and a word too far off no verb.
		`create system "Sytem"`:  readSystems + ` ; catalog_createSystem {"name":"Sytem"}`,
		"create system Incidnet": readSystems + ` ; catalog_createSystem {"name":"Incidnet"}`,
		"dalate system Billing":  "",
		"delta system Billing":   "",
		"the log says delte it":  "",
		"poem about incidnets":   "",
	} {
		if got := defaultWorld().play(t, text).calls(); got != want {
			t.Errorf("%q\n got %s\nwant %s", text, got, want)
		}
	}
	text := defaultWorld().play(t, "delte systm Billing").text
	if strings.Count(text, "I read “delte” as “delete” and “systm” as “system”.") != 1 {
		t.Errorf("what was read as what is not said once:\n%s", text)
	}
}
