package healthcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// statusInput selects checks for a model.
type statusInput struct {
	SystemID string `json:"systemId,omitempty" maxLength:"100" doc:"Only the checks of this system; leave it out for all"`
}

// statusOutput is the state of checks for a model.
type statusOutput struct {
	Checks []statusCheck  `json:"checks"`
	Forced []forcedStatus `json:"forced,omitempty"`
}

// forcedStatus is a system whose health is forced by hand, whatever its checks
// say.
type forcedStatus struct {
	SystemID   string    `json:"systemId"`
	SystemName string    `json:"systemName"`
	Status     string    `json:"status"`
	Reason     string    `json:"reason"`
	Since      time.Time `json:"since"`
}

type statusCheck struct {
	ConfigurationID string     `json:"configurationId"`
	Name            string     `json:"name"`
	SystemID        string     `json:"systemId,omitempty"`
	SystemName      string     `json:"systemName,omitempty"`
	Status          string     `json:"status"`
	Since           *time.Time `json:"since,omitempty"`
	Reason          string     `json:"reason,omitempty"`
	IntervalSeconds int        `json:"intervalSeconds"`
	Paused          bool       `json:"paused"`
	LastRunAt       *time.Time `json:"lastRunAt,omitempty"`
	Note            string     `json:"note,omitempty"`
}

// proposeInput is a new check, with where to run it.
type proposeInput struct {
	CreateInput
	AssignToSystemID   string `json:"assignToSystemId,omitempty" maxLength:"100" doc:"System to run it for, by id"`
	AssignToSystemName string `json:"assignToSystemName,omitempty" maxLength:"200" doc:"System to run it for, by name; it may be one that is proposed but not created yet"`
}

type proposeOutput struct {
	ConfigurationID string `json:"configurationId"`
	Name            string `json:"name"`
	SystemID        string `json:"systemId,omitempty"`
	SystemName      string `json:"systemName,omitempty"`
}

// updateToolInput is a partial change; config and collectors are merged.
type updateToolInput struct {
	ID      string         `json:"id" format:"uuid" doc:"The check, from healthcheck.status"`
	Body    updateToolBody `json:"body" doc:"Only what is to change"`
	Version int64          `json:"version,omitempty" doc:"Filled in by the preview; leave it out"`
}

type updateToolBody struct {
	Name            *string          `json:"name,omitempty"`
	Config          Object           `json:"config,omitempty" doc:"Settings to change; the others stay, null removes one"`
	IntervalSeconds *int             `json:"intervalSeconds,omitempty" doc:"1 to 604800"`
	Collectors      *[]CollectorBody `json:"collectors,omitempty" doc:"Replaces the list; keep the id of those that stay"`
	Paused          *bool            `json:"paused,omitempty" doc:"true pauses the check on all its systems"`
}

type deleteToolInput struct {
	ID string `json:"id" format:"uuid" doc:"The check, from healthcheck.status"`
}

// Tools gives the AI tools of this domain.
func (s *Service) Tools() []tool.Tool {
	manage := []authz.Rule{RuleManage}
	return []tool.Tool{
		tool.Define(tool.Spec{Name: "healthcheck.status", Effect: tool.Read, Access: []authz.Rule{RuleStatus},
			Description: "The present state of health checks: status (unknown means that it never ran), since when, the reason while failing, interval, paused, last run. forced lists systems whose health is set by hand, by an incident, on top of their checks. Use it to say what is down and to find a check's id."},
			s.toolStatus),
		tool.DefineChange(tool.Spec{Name: "healthcheck.propose", Effect: tool.Mutate, Access: manage,
			Description: "Create a health check and assign it to a system. For a URL use strategyId healthcheck-http.http with one collector healthcheck-http.request {url} and an assertion on statusCode. A check runs only once it is assigned: pass assignToSystemId, or assignToSystemName for a system that is only proposed so far."},
			s.dryPropose, s.runPropose).Hiding(s.secretKeys()...),
		tool.DefineChange(tool.Spec{Name: "healthcheck.update", Effect: tool.Mutate, Access: manage,
			Description: "Change a health check: name, interval, settings, collectors with assertions, or paused. Pass only what changes; config is merged into the present one."},
			s.dryUpdate, s.runUpdate).Hiding(s.secretKeys()...),
		tool.DefineChange(tool.Spec{Name: "healthcheck.delete", Effect: tool.Destructive, Access: manage,
			Description: "Delete a health check with its assignments and its run history. To stop it for a while use healthcheck.update with paused."},
			s.dryDelete, s.runDelete),
	}
}

// secretKeys gives the names of all settings of any check kind that hold a
// credential. The tools' schema leaves settings open, so it cannot mark them.
func (s *Service) secretKeys() []string {
	var keys []string
	var walk func(*strategy.Schema)
	walk = func(sc *strategy.Schema) {
		if sc == nil {
			return
		}
		for i := range sc.Properties {
			if p := &sc.Properties[i]; p.Schema.SecretID != "" {
				keys = append(keys, p.Name)
			} else {
				walk(&p.Schema)
			}
		}
		walk(sc.Items)
	}
	for _, kind := range s.kinds.List() {
		walk(kind.ConfigSchema)
		for _, c := range s.kinds.Collectors(kind.ID) {
			walk(c.ConfigSchema)
		}
	}
	return keys
}

func (s *Service) toolStatus(ctx context.Context, in statusInput) (statusOutput, error) {
	out := statusOutput{Checks: []statusCheck{}}
	where, args, systems := "TRUE", []any(nil), []string(nil)
	if in.SystemID != "" {
		if err := s.mustExist(ctx, in.SystemID); err != nil {
			return out, err
		}
		where, args, systems = "a.system_id = ?", []any{in.SystemID}, []string{in.SystemID}
	}
	said, err := s.overrides(ctx, systems)
	if err != nil {
		return out, err
	}
	checks, err := s.checkStatuses(ctx, where, args...)
	if err != nil {
		return out, err
	}
	ids := make([]string, 0, len(checks))
	assigned := map[string]bool{}
	for _, c := range checks {
		ids = append(ids, c.SystemID)
		assigned[c.ConfigurationID] = true
	}
	for id := range said {
		ids = append(ids, id)
	}
	names, err := s.systems.SystemNames(ctx, ids)
	if err != nil {
		return out, fmt.Errorf("look up systems: %w", err)
	}
	for id, list := range said {
		o := s.visible(ctx, list[0])
		out.Forced = append(out.Forced, forcedStatus{id, names[id], string(o.Status), o.String(), o.Since})
	}
	slices.SortFunc(out.Forced, func(a, b forcedStatus) int { return strings.Compare(a.SystemID, b.SystemID) })
	for _, c := range checks {
		row := statusCheck{ConfigurationID: c.ConfigurationID, Name: c.ConfigurationName, SystemID: c.SystemID, SystemName: names[c.SystemID],
			Status: string(c.Status), Since: timeOrNil(c.Since), Reason: c.Reason, IntervalSeconds: c.IntervalSeconds, Paused: c.Paused,
			LastRunAt: timeOrNil(c.LastRunAt)}
		if !c.Enabled {
			row.Note = "disabled on this system"
		}
		out.Checks = append(out.Checks, row)
	}
	// What is configured but runs nowhere is for those who manage checks.
	if in.SystemID != "" || !authz.From(ctx).Has(RuleRead.ID) {
		return out, nil
	}
	list, err := s.ops.getConfigurations.Call(ctx, operation.Empty{})
	if err != nil {
		return out, err
	}
	for _, c := range list.Configurations {
		if !assigned[c.ID] {
			out.Checks = append(out.Checks, statusCheck{ConfigurationID: c.ID, Name: c.Name, Status: string(Unknown),
				IntervalSeconds: c.IntervalSeconds, Paused: c.Paused, Note: "not assigned to a system, so it does not run"})
		}
	}
	return out, nil
}

// target finds the system a proposal is for. missing means that a system of the
// given name does not exist yet.
func (s *Service) target(ctx context.Context, in proposeInput) (id, name string, missing bool, issues []problem.Issue, err error) {
	switch {
	case in.AssignToSystemID != "":
		names, err := s.systems.SystemNames(ctx, []string{in.AssignToSystemID})
		if err != nil {
			return "", "", false, nil, fmt.Errorf("look up systems: %w", err)
		}
		if name, ok := names[in.AssignToSystemID]; ok {
			return in.AssignToSystemID, name, false, nil, nil
		}
		return "", "", false, []problem.Issue{{Path: "assignToSystemId", Message: "there is no such system; catalog.listSystems gives the ids"}}, nil
	case strings.TrimSpace(in.AssignToSystemName) != "":
		name := strings.TrimSpace(in.AssignToSystemName)
		ids, err := s.systems.SystemIDsByName(ctx, name)
		switch {
		case err != nil:
			return "", "", false, nil, fmt.Errorf("look up systems: %w", err)
		case len(ids) == 0:
			return "", name, true, nil, nil
		case len(ids) > 1:
			return "", "", false, []problem.Issue{{Path: "assignToSystemName",
				Message: "several systems have this name; pass assignToSystemId, one of " + strings.Join(ids, ", ")}}, nil
		}
		return ids[0], name, false, nil, nil
	}
	return "", "", false, nil, nil
}

func (s *Service) dryPropose(ctx context.Context, in proposeInput) (tool.Preview[proposeInput], error) {
	var p tool.Preview[proposeInput]
	verdict, err := s.ops.validate.Call(ctx, ValidateInput{Draft: DraftBody{Name: in.Name, StrategyID: in.StrategyID, Config: in.Config,
		IntervalSeconds: in.IntervalSeconds, Collectors: in.Collectors}})
	if err != nil {
		return p, err
	}
	id, name, missing, issues, err := s.target(ctx, in)
	if err != nil {
		return p, err
	}
	if err := problem.InputIssues(append(verdict.Errors, issues...)); err != nil {
		return p, err
	}
	p.Payload = in
	p.Summary = fmt.Sprintf("Create health check %q, run every %s", strings.TrimSpace(in.Name), everySeconds(in.IntervalSeconds))
	switch {
	case missing:
		p.Summary += fmt.Sprintf(", for system %q", name)
		p.Blocked = noSystemYet(name)
	case id != "":
		p.Payload.AssignToSystemID = id
		p.Summary += fmt.Sprintf(", for system %q", name)
	default:
		p.Summary += ". It runs only once it is assigned to a system."
	}
	return p, nil
}

func noSystemYet(name string) string {
	return fmt.Sprintf("The system %q does not exist yet. Create it first, then apply this.", name)
}

func (s *Service) runPropose(ctx context.Context, in proposeInput) (proposeOutput, error) {
	id, name, missing, issues, err := s.target(ctx, in)
	if err != nil {
		return proposeOutput{}, err
	}
	if missing {
		return proposeOutput{}, problem.Conflict("%s", noSystemYet(name))
	}
	if err := problem.InputIssues(issues); err != nil {
		return proposeOutput{}, err
	}
	var made *ConfigurationBody
	if id == "" {
		made, err = s.ops.create.Call(ctx, in.CreateInput)
	} else {
		made, err = s.ops.createAndAssign.Call(ctx, CreateAndAssignInput{CreateInput: in.CreateInput, SystemIDs: []string{id}})
	}
	if err != nil {
		return proposeOutput{}, err
	}
	return proposeOutput{ConfigurationID: made.ID, Name: made.Name, SystemID: id, SystemName: name}, nil
}

// checkView is a check as a diff shows it: no secret, only which are set.
type checkView struct {
	Name            string          `json:"name"`
	IntervalSeconds int             `json:"intervalSeconds"`
	Paused          bool            `json:"paused"`
	Config          Object          `json:"config"`
	Collectors      []CollectorBody `json:"collectors"`
	SecretsSet      []string        `json:"secretsSet"`
	SecretsReplaced []string        `json:"secretsReplaced,omitempty"`
}

// merged lays a tool's body over the present configuration.
func merged(now *ConfigurationBody, in updateToolBody) (UpdateBody, error) {
	body := UpdateBody{Name: in.Name, IntervalSeconds: in.IntervalSeconds, Collectors: in.Collectors, Paused: in.Paused}
	if in.Config == nil {
		return body, nil
	}
	var config, patch map[string]json.RawMessage
	if err := json.Unmarshal(now.Config, &config); err != nil {
		return body, fmt.Errorf("read config: %w", err)
	}
	if err := json.Unmarshal(in.Config, &patch); err != nil {
		return body, problem.Field("body.config", "must be an object").Because(err)
	}
	for key, value := range patch {
		config[key] = value // null stays: it means to remove
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return body, fmt.Errorf("write config: %w", err)
	}
	body.Config = raw
	return body, nil
}

func (s *Service) dryUpdate(ctx context.Context, in updateToolInput) (tool.Preview[updateToolInput], error) {
	var p tool.Preview[updateToolInput]
	before, err := s.ops.getConfiguration.Call(ctx, IDInput{ID: in.ID})
	if err != nil {
		return p, err
	}
	body, err := merged(before, in.Body)
	if err != nil {
		return p, err
	}
	after := draftOf(before, body)
	verdict, err := s.ops.validate.Call(ctx, ValidateInput{Draft: after})
	if err != nil {
		return p, err
	}
	for i := range verdict.Errors {
		verdict.Errors[i].Path = "body." + verdict.Errors[i].Path
	}
	if err := problem.InputIssues(verdict.Errors); err != nil {
		return p, err
	}
	b, a := s.view(before, DraftBody{ID: before.ID, Name: before.Name, StrategyID: before.StrategyID, Config: before.Config,
		IntervalSeconds: before.IntervalSeconds, Collectors: before.Collectors}, before.Paused, nil), s.view(before, after, before.Paused, in.Body.Paused)
	p.Before, p.After = b, a
	p.Payload = in
	p.Payload.Version = before.Version
	p.Summary = fmt.Sprintf("Change health check %q (%s)", before.Name, reach(before))
	if in.Body.Paused != nil && in.Body.Name == nil && in.Body.Config == nil && in.Body.IntervalSeconds == nil && in.Body.Collectors == nil {
		verb := "Resume"
		if *in.Body.Paused {
			verb = "Pause"
		}
		p.Summary = fmt.Sprintf("%s health check %q (%s)", verb, before.Name, reach(before))
	}
	return p, nil
}

// draftOf is the configuration as it would be after body.
func draftOf(now *ConfigurationBody, body UpdateBody) DraftBody {
	d := DraftBody{ID: now.ID, Name: now.Name, StrategyID: now.StrategyID, Config: now.Config, IntervalSeconds: now.IntervalSeconds, Collectors: now.Collectors}
	if body.Name != nil {
		d.Name = *body.Name
	}
	if body.Config != nil {
		d.Config = body.Config
	}
	if body.IntervalSeconds != nil {
		d.IntervalSeconds = *body.IntervalSeconds
	}
	if body.Collectors != nil {
		d.Collectors = *body.Collectors
	}
	return d
}

// view shows a draft without its secrets. Which secrets a draft types in anew is
// told by their path.
func (s *Service) view(now *ConfigurationBody, d DraftBody, paused bool, change *bool) checkView {
	draft := s.kinds.Normalize(strategy.Draft{StrategyID: d.StrategyID, Config: d.Config.raw(), Collectors: collectorsIn(d.Collectors)})
	shown, typed := s.kinds.Redact(draft)
	v := checkView{Name: strings.TrimSpace(d.Name), IntervalSeconds: d.IntervalSeconds, Paused: paused, Config: Object(shown.Config),
		Collectors: collectorsOut(shown.Collectors), SecretsSet: now.ConfiguredSecrets, SecretsReplaced: typed}
	if change != nil {
		v.Paused = *change
	}
	return v
}

func (s *Service) runUpdate(ctx context.Context, in updateToolInput) (ConfigurationBody, error) {
	before, err := s.ops.getConfiguration.Call(ctx, IDInput{ID: in.ID})
	if err != nil {
		return ConfigurationBody{}, err
	}
	if in.Version != 0 && before.Version != in.Version {
		return ConfigurationBody{}, errMoved
	}
	body, err := merged(before, in.Body)
	if err != nil {
		return ConfigurationBody{}, err
	}
	out, err := s.ops.update.Call(ctx, UpdateInput{ID: in.ID, Body: body, Version: &before.Version})
	if err != nil {
		return ConfigurationBody{}, err
	}
	return *out, nil
}

func (s *Service) dryDelete(ctx context.Context, in deleteToolInput) (tool.Preview[deleteToolInput], error) {
	var p tool.Preview[deleteToolInput]
	c, err := s.ops.getConfiguration.Call(ctx, IDInput(in))
	if err != nil {
		return p, err
	}
	p.Payload = in
	p.Summary = fmt.Sprintf("Delete health check %q (%s) with its run history. This cannot be undone.", c.Name, reach(c))
	if len(c.SystemIDs) > 0 {
		names, err := s.systems.SystemNames(ctx, c.SystemIDs)
		if err != nil {
			return p, fmt.Errorf("look up systems: %w", err)
		}
		list := make([]string, 0, len(c.SystemIDs))
		for _, id := range c.SystemIDs {
			list = append(list, fmt.Sprintf("%q", names[id]))
		}
		const shown = 5
		more := ""
		if n := len(list) - shown; n > 0 {
			list, more = list[:shown], fmt.Sprintf(" and %d more", n)
		}
		p.Summary = fmt.Sprintf("Delete health check %q, which watches %s%s, with its run history. This cannot be undone.", c.Name, strings.Join(list, ", "), more)
	}
	return p, nil
}

func (s *Service) runDelete(ctx context.Context, in deleteToolInput) (SuccessOutput, error) {
	out, err := s.ops.remove.Call(ctx, IDInput(in))
	if err != nil {
		return SuccessOutput{}, err
	}
	return *out, nil
}

// reach says how many systems a check runs for.
func reach(c *ConfigurationBody) string {
	switch n := len(c.SystemIDs); n {
	case 0:
		return "not assigned to a system"
	case 1:
		return "on 1 system"
	default:
		return fmt.Sprintf("on %d systems", n)
	}
}

// everySeconds writes an interval for people.
func everySeconds(n int) string {
	for _, u := range []struct {
		seconds int
		name    string
	}{{86400, "day"}, {3600, "hour"}, {60, "minute"}} {
		switch {
		case n == u.seconds:
			return u.name
		case n > u.seconds && n%u.seconds == 0:
			return fmt.Sprintf("%d %ss", n/u.seconds, u.name)
		}
	}
	if n == 1 {
		return "second"
	}
	return fmt.Sprintf("%d seconds", n)
}
