package healthcheck

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// Configurations gives every configuration, by name.
func (s *Service) Configurations(ctx context.Context) ([]Configuration, error) {
	rows, err := readConfigurations(ctx, s.db.Read, " ORDER BY lower(name), id")
	if err != nil {
		return nil, fmt.Errorf("list configurations: %w", err)
	}
	return s.present(ctx, s.db.Read, rows)
}

// Configuration gives one configuration.
func (s *Service) Configuration(ctx context.Context, id string) (Configuration, error) {
	rows, err := readConfigurations(ctx, s.db.Read, " WHERE id = ?", id)
	if err != nil {
		return Configuration{}, fmt.Errorf("read configuration %s: %w", id, err)
	}
	if len(rows) == 0 {
		return Configuration{}, errNoConfiguration
	}
	return s.presentOne(ctx, s.db.Read, rows[0])
}

// present turns rows into configurations without their secrets.
func (s *Service) present(ctx context.Context, idb bun.IDB, rows []configurationRow) ([]Configuration, error) {
	out := make([]Configuration, 0, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	var links []struct{ ConfigurationID, SystemID string }
	if err := idb.NewRaw("SELECT configuration_id, system_id FROM health_check_assignments WHERE configuration_id IN (?) ORDER BY system_id",
		bun.List(ids)).Scan(ctx, &links); err != nil {
		return nil, fmt.Errorf("read assignments of configurations: %w", err)
	}
	systems := map[string][]string{}
	for _, l := range links {
		systems[l.ConfigurationID] = append(systems[l.ConfigurationID], l.SystemID)
	}
	for _, r := range rows {
		d, err := r.draft()
		if err != nil {
			return nil, err
		}
		d, configured := s.kinds.Redact(d)
		if d.Collectors == nil {
			d.Collectors = []strategy.CollectorConfig{}
		}
		c := Configuration{ID: r.ID, Name: r.Name, StrategyID: r.StrategyID, Config: d.Config, Collectors: d.Collectors,
			IntervalSeconds: r.IntervalSeconds, Paused: r.Paused, Version: r.Version,
			CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), ConfiguredSecrets: configured, SystemIDs: systems[r.ID]}
		if c.SystemIDs == nil {
			c.SystemIDs = []string{}
		}
		out = append(out, c)
	}
	return out, nil
}

func (s *Service) presentOne(ctx context.Context, idb bun.IDB, r configurationRow) (Configuration, error) {
	out, err := s.present(ctx, idb, []configurationRow{r})
	if err != nil {
		return Configuration{}, err
	}
	return out[0], nil
}

// Create stores a configuration and assigns it to the given systems, all or
// nothing. Every fault of the draft is reported at once.
func (s *Service) Create(ctx context.Context, d Draft, systemIDs []string) (Configuration, error) {
	p, issues := s.check(d, nil)
	systemIDs, missing, err := s.knownSystems(ctx, systemIDs)
	if err != nil {
		return Configuration{}, err
	}
	if err := problem.InputIssues(append(issues, missing...)); err != nil {
		return Configuration{}, err
	}
	now := s.now()
	row := configurationRow{ID: newID(), Name: strings.TrimSpace(d.Name), IntervalSeconds: d.IntervalSeconds, Version: 1, CreatedAt: now, UpdatedAt: now}
	if err := row.setDraft(p.row); err != nil {
		return Configuration{}, err
	}
	var made Configuration
	err = s.edit(ctx, func(ctx context.Context, tx bun.Tx) (map[string]string, error) {
		if err := insertConfiguration(ctx, tx, row); err != nil {
			return nil, fmt.Errorf("store configuration: %w", err)
		}
		if err := s.putSecrets(ctx, tx, row.ID, p); err != nil {
			return nil, err
		}
		touched := map[string]string{}
		for _, id := range systemIDs {
			if err := s.insertAssignment(ctx, tx, newSlice(row, id, true, nil, p.full, now)); err != nil {
				return nil, err
			}
			touched[id] = row.ID
		}
		var err error
		made, err = s.presentOne(ctx, tx, row)
		return touched, err
	})
	if err != nil {
		return Configuration{}, err
	}
	return made, nil
}

// Update changes a configuration. version, if not nil, is the version that the
// caller read; when it has moved the update is refused.
func (s *Service) Update(ctx context.Context, id string, c Change, version *int64) (Configuration, error) {
	var after Configuration
	err := s.edit(ctx, func(ctx context.Context, tx bun.Tx) (map[string]string, error) {
		row, err := s.lockConfiguration(ctx, tx, id)
		if err != nil {
			return nil, err
		}
		if version != nil && *version != row.Version {
			return nil, errMoved
		}
		p, d, err := s.merge(ctx, tx, row, c)
		if err != nil {
			return nil, err
		}
		resumed := row.Paused && c.Paused != nil && !*c.Paused
		retimed := d.IntervalSeconds != row.IntervalSeconds
		now := s.now()
		row.Name, row.IntervalSeconds, row.Version, row.UpdatedAt = strings.TrimSpace(d.Name), d.IntervalSeconds, row.Version+1, now
		if c.Paused != nil {
			row.Paused = *c.Paused
		}
		if err := row.setDraft(p.row); err != nil {
			return nil, err
		}
		if err := updateConfiguration(ctx, tx, row); err != nil {
			return nil, fmt.Errorf("update configuration %s: %w", id, err)
		}
		if err := s.putSecrets(ctx, tx, id, p); err != nil {
			return nil, err
		}
		touched, err := s.followConfiguration(ctx, tx, row, p.full, resumed, retimed, now)
		if err != nil {
			return nil, err
		}
		after, err = s.presentOne(ctx, tx, row)
		return touched, err
	})
	if err != nil {
		return Configuration{}, err
	}
	return after, nil
}

// errMoved refuses an edit of something that changed since it was read.
var errMoved = problem.Conflict("The configuration was changed by someone else meanwhile; load it again and repeat the change").Because(problem.ErrMoved)

// merge lays a change over the stored configuration and validates the whole.
func (s *Service) merge(ctx context.Context, idb bun.IDB, row configurationRow, c Change) (prepared, Draft, error) {
	stored, err := row.draft()
	if err != nil {
		return prepared{}, Draft{}, err
	}
	d := Draft{Name: row.Name, StrategyID: stored.StrategyID, Config: stored.Config, Collectors: stored.Collectors, IntervalSeconds: row.IntervalSeconds}
	if c.Name != nil {
		d.Name = *c.Name
	}
	if c.StrategyID != nil {
		d.StrategyID = *c.StrategyID
	}
	if c.Config != nil {
		d.Config = c.Config
	}
	if c.Collectors != nil {
		d.Collectors = *c.Collectors
	}
	if c.IntervalSeconds != nil {
		d.IntervalSeconds = *c.IntervalSeconds
	}
	kept, err := s.secrets.All(ctx, idb, secretScope(row.ID))
	if err != nil {
		return prepared{}, Draft{}, err
	}
	usable := kept
	if d.StrategyID != row.StrategyID {
		usable = nil // a secret meant for one kind of target must not be sent to another
	}
	p, issues := s.check(d, usable)
	if d.StrategyID != row.StrategyID {
		p.drop = replaced(kept, p)
	}
	return p, d, problem.InputIssues(issues)
}

// replaced gives the names of the kept secrets that were not typed in anew.
func replaced(kept map[string]secret.String, p prepared) []string {
	var drop []string
	for name := range kept {
		if _, renewed := p.put[name]; !renewed {
			drop = append(drop, name)
		}
	}
	return drop
}

// check validates a draft in full: what this package knows and what the kinds do.
func (s *Service) check(d Draft, kept map[string]secret.String) (prepared, []problem.Issue) {
	var issues []problem.Issue
	switch n := utf8.RuneCountInString(d.Name); {
	case strings.TrimSpace(d.Name) == "":
		issues = append(issues, problem.Issue{Path: "name", Message: "is required"})
	case n > MaxNameLength:
		issues = append(issues, problem.Issue{Path: "name", Message: fmt.Sprintf("must have at most %d characters", MaxNameLength)})
	}
	if d.IntervalSeconds < 1 || d.IntervalSeconds > MaxIntervalSeconds {
		issues = append(issues, problem.Issue{Path: "intervalSeconds",
			Message: fmt.Sprintf("must be a whole number of seconds from 1 to %d", MaxIntervalSeconds)})
	}
	p, more := s.prepare(strategy.Draft{StrategyID: d.StrategyID, Config: d.Config, Collectors: d.Collectors}, kept)
	return p, append(issues, more...)
}

// Validate lists every fault of a draft. id, if not empty, names a stored
// configuration whose secrets fill the blank ones.
func (s *Service) Validate(ctx context.Context, d Draft, id string) ([]problem.Issue, error) {
	kept, err := s.keptSecrets(ctx, id)
	if err != nil {
		return nil, err
	}
	_, issues := s.check(d, kept)
	return issues, nil
}

// Test runs a draft once and stores nothing. The system, if given, fills the
// templates.
func (s *Service) Test(ctx context.Context, d Draft, id, systemID string) (strategy.Result, error) {
	kept, err := s.keptSecrets(ctx, id)
	if err != nil {
		return strategy.Result{}, err
	}
	p, issues := s.check(d, kept)
	if err := problem.InputIssues(issues); err != nil {
		return strategy.Result{}, err
	}
	check := strategy.Check{Draft: p.full, Template: strategy.TemplateContext{
		CheckID: cmp.Or(id, newID()), CheckName: d.Name, IntervalSeconds: d.IntervalSeconds}}
	if systemID != "" {
		info, err := s.systemInfo(ctx, []string{systemID})
		if err != nil {
			return strategy.Result{}, err
		}
		sys, ok := info[systemID]
		if !ok {
			return strategy.Result{}, problem.NotFound("System not found")
		}
		check.Template.SystemID, check.Template.SystemName, check.Template.SystemMetadata = systemID, sys.name, sys.metadata
	}
	res := s.kinds.Run(ctx, check)
	if err := ctx.Err(); err != nil {
		return strategy.Result{}, fmt.Errorf("test run: %w", err)
	}
	s.logRun(ctx, cmp.Or(id, "draft"), res)
	return res, nil
}

func (s *Service) keptSecrets(ctx context.Context, id string) (map[string]secret.String, error) {
	if id == "" {
		return nil, nil
	}
	if rows, err := readConfigurations(ctx, s.db.Read, " WHERE id = ?", id); err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", id, err)
	} else if len(rows) == 0 {
		return nil, errNoConfiguration
	}
	return s.secrets.All(ctx, s.db.Read, secretScope(id))
}

// Delete removes a configuration, its assignments and secrets at once. Its runs
// are no longer shown and are swept right after, in batches.
func (s *Service) Delete(ctx context.Context, id string) error {
	err := s.edit(ctx, func(ctx context.Context, tx bun.Tx) (map[string]string, error) {
		if _, err := s.lockConfiguration(ctx, tx, id); err != nil {
			return nil, err
		}
		rows, err := s.lockSlices(ctx, tx, "configuration_id = ?", id)
		if err != nil {
			return nil, fmt.Errorf("read assignments of configuration %s: %w", id, err)
		}
		touched := map[string]string{}
		for _, r := range rows {
			touched[r.SystemID] = ""
		}
		if _, err := tx.NewRaw("DELETE FROM health_check_assignments WHERE configuration_id = ?", id).Exec(ctx); err != nil {
			return nil, fmt.Errorf("delete assignments of configuration %s: %w", id, err)
		}
		if _, err := tx.NewRaw("DELETE FROM health_check_configurations WHERE id = ?", id).Exec(ctx); err != nil {
			return nil, fmt.Errorf("delete configuration %s: %w", id, err)
		}
		return touched, s.secrets.Delete(ctx, tx, secretScope(id))
	})
	if err != nil {
		return err
	}
	s.cache.forget(id)
	poke(s.purge)
	return nil
}

// SetPaused pauses or resumes a configuration for all its systems.
func (s *Service) SetPaused(ctx context.Context, id string, paused bool) error {
	return s.edit(ctx, func(ctx context.Context, tx bun.Tx) (map[string]string, error) {
		row, err := s.lockConfiguration(ctx, tx, id)
		if err != nil || row.Paused == paused {
			return nil, err
		}
		now := s.now()
		row.Paused, row.Version, row.UpdatedAt = paused, row.Version+1, now
		if err := updateConfiguration(ctx, tx, row); err != nil {
			return nil, fmt.Errorf("pause configuration %s: %w", id, err)
		}
		d, err := row.draft()
		if err != nil {
			return nil, err
		}
		return s.followConfiguration(ctx, tx, row, d, !paused, false, now)
	})
}

// followConfiguration brings the slices of a configuration in line with it.
func (s *Service) followConfiguration(ctx context.Context, tx bun.Tx, row configurationRow, d strategy.Draft, resumed, retimed bool, now time.Time) (map[string]string, error) {
	rows, err := s.lockSlices(ctx, tx, "configuration_id = ?", row.ID)
	if err != nil {
		return nil, fmt.Errorf("read assignments of configuration %s: %w", row.ID, err)
	}
	touched := map[string]string{}
	for _, r := range rows {
		was := r.Active
		r.Active = r.Enabled && !row.Paused
		r.ConfigurationVersion = row.Version
		r.LeaseMs = leaseOf(d).Milliseconds()
		if retimed {
			r.IntervalMs = int64(row.IntervalSeconds) * 1000
			r.PhaseMs = phaseOf(r.SliceID, r.IntervalMs)
			r.NextDueMs = nextSlot(r.PhaseMs, r.IntervalMs, now.UnixMilli())
		}
		if resumed && r.Active {
			r.NextDueMs = now.UnixMilli()
		}
		if err := updateSlice(ctx, tx, r); err != nil {
			return nil, fmt.Errorf("update assignment %s of configuration %s: %w", r.SystemID, row.ID, err)
		}
		if was != r.Active {
			touched[r.SystemID] = row.ID
		}
	}
	return touched, nil
}

// putSecrets stores the typed-in secrets and removes the ones no longer used.
func (s *Service) putSecrets(ctx context.Context, tx bun.Tx, id string, p prepared) error {
	for name, value := range p.put {
		if err := s.secrets.Put(ctx, tx, secretScope(id), name, value); err != nil {
			return err
		}
	}
	if len(p.drop) == 0 {
		return nil
	}
	slices.Sort(p.drop)
	return s.secrets.Delete(ctx, tx, secretScope(id), p.drop...)
}

// timeoutOf is how long a run of d may take.
func timeoutOf(d strategy.Draft) time.Duration {
	var c struct {
		Timeout float64 `json:"timeout"`
	}
	if json.Unmarshal(d.Config, &c) != nil || c.Timeout <= 0 {
		return fallbackTimeout
	}
	return time.Duration(c.Timeout) * time.Millisecond
}

// leaseOf is how long a claim of a slice of d is respected after its owner was
// last heard of.
func leaseOf(d strategy.Draft) time.Duration { return timeoutOf(d) + leaseMargin }
