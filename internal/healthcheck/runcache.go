package healthcheck

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/secret"
)

// systemTTL is how long a changed system name may be missing from templates.
const systemTTL = 30 * time.Second

// runnable is a configuration ready to be run.
type runnable struct {
	version  int64
	name     string
	interval int
	draft    strategy.Draft // with its secrets
	timeout  time.Duration
	// fault says why it cannot be run; the run then fails with it.
	fault string
	used  time.Time
}

type systemInfo struct {
	name     string
	metadata map[string]any
	loaded   time.Time
}

// runCache remembers what runs need. A claim names the version it wants, so an
// outdated configuration is never run.
type runCache struct {
	mu      sync.Mutex
	configs map[string]*runnable
	systems map[string]systemInfo
}

func newRunCache() *runCache {
	return &runCache{configs: map[string]*runnable{}, systems: map[string]systemInfo{}}
}

func (c *runCache) forget(configurationID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.configs, configurationID)
}

// sweep forgets what was not used for an hour.
func (c *runCache) sweep(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.configs {
		if d := now.Sub(r.used); d > time.Hour || d < 0 {
			delete(c.configs, id)
		}
	}
	for id, i := range c.systems {
		if d := now.Sub(i.loaded); d > time.Hour || d < 0 {
			delete(c.systems, id)
		}
	}
}

// load gives the configurations of claims, reading those that are new or newer.
// One that is missing from the answer was deleted meanwhile.
func (s *Service) load(ctx context.Context, claims []claim) (map[string]*runnable, error) {
	now := s.now()
	out := make(map[string]*runnable, len(claims))
	var missing []string
	seen := map[string]bool{}
	s.cache.mu.Lock()
	for _, c := range claims {
		if r := s.cache.configs[c.ConfigurationID]; r != nil && r.version >= c.ConfigurationVersion {
			r.used = now
			out[c.ConfigurationID] = r
		} else if !seen[c.ConfigurationID] {
			seen[c.ConfigurationID] = true
			missing = append(missing, c.ConfigurationID)
		}
	}
	s.cache.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	rows, err := readConfigurations(ctx, s.db.Read, " WHERE id IN (?)", bun.List(missing))
	if err != nil {
		return nil, fmt.Errorf("read configurations: %w", err)
	}
	for _, row := range rows {
		r, err := s.runnable(ctx, row)
		if err != nil {
			return nil, err
		}
		r.used = now
		out[row.ID] = r
		s.cache.mu.Lock()
		s.cache.configs[row.ID] = r
		s.cache.mu.Unlock()
	}
	return out, nil
}

func (s *Service) runnable(ctx context.Context, row configurationRow) (*runnable, error) {
	d, err := row.draft()
	if err != nil {
		return nil, err
	}
	r := &runnable{version: row.Version, name: row.Name, interval: row.IntervalSeconds, timeout: timeoutOf(d)}
	var values map[string]secret.String
	if slices.ContainsFunc(s.kinds.SecretFields(d), func(f strategy.SecretField) bool { return f.Value == stored }) {
		values, err = s.secrets.All(ctx, s.db.Read, secretScope(row.ID))
	}
	if err == nil {
		r.draft, err = s.resolve(d, values)
	}
	switch {
	case errors.Is(err, secret.ErrDecrypt):
		r.fault = "A secret of this check cannot be decrypted: restore the encryption key, or enter the secret again"
	case errors.Is(err, errSecretMissing):
		r.fault = errSecretMissing.Error()
	case err != nil:
		return nil, err
	}
	if r.fault != "" {
		s.log.ErrorContext(ctx, "health check cannot run", "configuration_id", row.ID, "error", err)
	}
	return r, nil
}

// systemInfo gives what templates see of systems.
func (s *Service) systemInfo(ctx context.Context, ids []string) (map[string]systemInfo, error) {
	now := s.now()
	out := make(map[string]systemInfo, len(ids))
	var missing []string
	seen := map[string]bool{}
	s.cache.mu.Lock()
	for _, id := range ids {
		info, ok := s.cache.systems[id]
		if age := now.Sub(info.loaded); ok && age >= 0 && age < systemTTL {
			out[id] = info
		} else if !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	s.cache.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	names, err := s.systems.SystemNames(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("read names of systems: %w", err)
	}
	metadata, err := s.systems.SystemMetadata(ctx, missing)
	if err != nil {
		return nil, fmt.Errorf("read metadata of systems: %w", err)
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	for id, name := range names {
		info := systemInfo{name: name, metadata: metadata[id], loaded: now}
		s.cache.systems[id], out[id] = info, info
	}
	return out, nil
}
