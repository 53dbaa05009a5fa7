package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestKill9MovesEachMaintenanceOnce kills a process again and again while forty
// short windows begin and end; on PostgreSQL a second replica moves them as well.
// Every window is started once and completed once, and at the planned instants,
// although the servers live in New York.
func TestKill9MovesEachMaintenanceOnce(t *testing.T) {
	t.Parallel()
	walk := func(t *testing.T, i *installation, replicas int) {
		i.env = append(i.env, "TZ=America/New_York")
		p := launch(t, i.dir, i.env)
		p.signUp(t)
		session := p
		for range replicas - 1 {
			launch(t, t.TempDir(), i.env)
		}
		var sys struct{ ID string }
		if err := json.Unmarshal(p.post(t, "/rest/catalog/createSystem", `{"name":"S"}`), &sys); err != nil {
			t.Fatal(err)
		}
		begin := time.Now().Truncate(time.Second)
		const windows = 40
		for n := range windows {
			start := begin.Add(time.Duration(n) * 150 * time.Millisecond).In(time.FixedZone("", 2*60*60))
			p.post(t, "/rest/maintenance/createMaintenance", fmt.Sprintf(`{"title":"%d","startAt":%q,"endAt":%q,"systemIds":[%q]}`, n,
				start.Format(time.RFC3339Nano), start.Add(time.Duration(1+n%5)*300*time.Millisecond).Format(time.RFC3339Nano), sys.ID))
		}
		for range 4 {
			kill := time.After(700 * time.Millisecond)
			<-kill
			p.kill()
			p = launch(t, i.dir, i.env)
			p.as(t, session)
		}
		waitFor(t, "every window to be over", func() bool {
			var page struct{ Maintenances []json.RawMessage }
			if err := json.Unmarshal([]byte(p.get(t, "/rest/maintenance/listMaintenances?open=true")), &page); err != nil {
				t.Fatal(err)
			}
			return len(page.Maintenances) == 0
		})
		var page struct {
			Maintenances []struct {
				ID, Title, Status           string
				StartAt, StartedAt, EndedAt time.Time
			}
		}
		if err := json.Unmarshal([]byte(p.get(t, "/rest/maintenance/listMaintenances?limit=100&sortOrder=asc")), &page); err != nil {
			t.Fatal(err)
		}
		if len(page.Maintenances) != windows {
			t.Fatalf("%d windows, want %d", len(page.Maintenances), windows)
		}
		for n, m := range page.Maintenances {
			if want := begin.Add(time.Duration(n) * 150 * time.Millisecond); !m.StartAt.Equal(want) || m.StartedAt.Before(want) || m.EndedAt.Before(m.StartedAt) {
				t.Errorf("window %s: planned for %s and started %s, want %s", m.Title, m.StartAt, m.StartedAt, want)
			}
			detail := p.get(t, "/rest/maintenance/getMaintenance?id="+m.ID)
			for _, text := range []string{"Maintenance started automatically", "Maintenance completed automatically"} {
				if got := strings.Count(detail, text); got != 1 || m.Status != "completed" {
					t.Errorf("window %s is %s and says %d times %q", m.Title, m.Status, got, text)
				}
			}
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		walk(t, newInstallation(t, ""), 1)
	})
	t.Run("postgres, two replicas", func(t *testing.T) {
		t.Parallel()
		walk(t, newInstallation(t, dbtest.PostgresURL(t)), 2)
	})
}
