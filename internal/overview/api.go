package overview

import (
	"context"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

// SignalView is a signal in an API answer.
type SignalView struct {
	Source string     `json:"source" doc:"Plugin that reports it"`
	Tone   Tone       `json:"tone" enum:"error,warn,info"`
	Label  string     `json:"label"`
	Detail string     `json:"detail,omitempty"`
	Since  *time.Time `json:"since,omitempty"`
	Until  *time.Time `json:"until,omitempty" doc:"When it will be over, if that is known"`
	Href   string     `json:"href,omitempty" doc:"Page with more; absent when the caller may not open it"`
}

// SystemView is a system that needs attention.
type SystemView struct {
	SystemID   string       `json:"systemId" format:"uuid"`
	SystemName string       `json:"systemName"`
	Signals    []SignalView `json:"signals" doc:"Worst first"`
}

// IssuesInput limits the answer.
type IssuesInput struct {
	SystemIDs []string `json:"systemIds,omitempty" maxItems:"500" doc:"Only these systems. Ids are UUIDs from a list tool, never names."`
}

// IssuesOutput tells what needs attention, and how sure that is.
type IssuesOutput struct {
	Systems             []SystemView `json:"systems" doc:"Systems with at least one signal, worst first"`
	TotalSystems        int          `json:"totalSystems" doc:"Systems listed"`
	TotalSignals        int          `json:"totalSignals"`
	WatchedSystems      int          `json:"watchedSystems" doc:"Systems with at least one enabled check"`
	HealthySystems      int          `json:"healthySystems"`
	PendingSystems      int          `json:"pendingSystems" doc:"Watched systems whose checks have not run yet"`
	LastRunAt           *time.Time   `json:"lastRunAt,omitempty" doc:"When a check last ran"`
	CheckedSources      []string     `json:"checkedSources"`
	InaccessibleSources []string     `json:"inaccessibleSources" doc:"Sources the caller may not read: nothing is known about them"`
	FailedSources       []string     `json:"failedSources" doc:"Sources that could not be read"`
}

// ActivityInput bounds the list.
type ActivityInput struct {
	Limit int `json:"limit,omitempty" minimum:"1" maximum:"100" default:"8"`
}

// ActivityView is one thing that happened.
type ActivityView struct {
	Source  string      `json:"source" doc:"Plugin it comes from"`
	Kind    string      `json:"kind" doc:"What happened, such as changed, opened or started"`
	ID      string      `json:"id" doc:"Unique within the source"`
	Title   string      `json:"title" doc:"What it happened to: the name of a system, the title of an incident"`
	Systems []SystemRef `json:"systems" doc:"Systems it is about"`
	From    string      `json:"from,omitempty" doc:"Status before"`
	To      string      `json:"to,omitempty" doc:"Status since"`
	Href    string      `json:"href,omitempty" doc:"Page with more; absent when the caller may not open it"`
	At      time.Time   `json:"at"`
}

// SystemRef names a system.
type SystemRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// ActivityOutput lists what happened, newest first, and how complete that is.
type ActivityOutput struct {
	Items               []ActivityView `json:"items"`
	CheckedSources      []string       `json:"checkedSources"`
	InaccessibleSources []string       `json:"inaccessibleSources" doc:"Sources the caller may not read"`
	FailedSources       []string       `json:"failedSources" doc:"Sources that could not be read"`
}

// SilenceInput names a system.
type SilenceInput struct {
	SystemID string `json:"systemId" minLength:"1" maxLength:"100"`
}

// SilenceOutput says whether changes of a system's health are notified.
type SilenceOutput struct {
	SilencedBy *string `json:"silencedBy" nullable:"true" doc:"maintenance or incident, whichever asks for quiet now; null when changes of health are notified"`
}

// Operations declares what the dashboard reads. rule is what a viewer of
// systems must hold; each source asks for its own besides.
func (s *Service) Operations(rule authz.Rule) []operation.Operation {
	return []operation.Operation{
		s.issuesOperation(rule),
		operation.New(operation.Declaration{ID: "system.getRecentActivity", Kind: operation.Query, Caller: operation.Public,
			Summary: "List what happened lately: changes of health, incidents, maintenances", Access: []authz.Rule{rule}}, s.getRecentActivity),
		operation.New(operation.Declaration{ID: "system.getSilence", Kind: operation.Query, Caller: operation.Public,
			Summary: "Say whether changes of a system's health are notified now", Access: []authz.Rule{rule}}, s.getSilence),
	}
}

func (s *Service) getSilence(ctx context.Context, in *SilenceInput) (*SilenceOutput, error) {
	out := &SilenceOutput{}
	if by := s.SilencedBy(ctx, in.SystemID); by != "" {
		out.SilencedBy = &by
	}
	return out, nil
}

func (s *Service) issuesOperation(rule authz.Rule) *operation.Op[IssuesInput, IssuesOutput] {
	return operation.New(operation.Declaration{ID: "system.getIssues", Kind: operation.Query, Caller: operation.Public,
		Summary: "List the systems that need attention", Access: []authz.Rule{rule}}, s.getIssues)
}

func (s *Service) getIssues(ctx context.Context, in *IssuesInput) (*IssuesOutput, error) {
	issues, err := s.Issues(ctx, in.SystemIDs)
	if err != nil {
		return nil, err
	}
	out := &IssuesOutput{Systems: []SystemView{}, TotalSystems: len(issues.Systems), WatchedSystems: issues.Watched.Total, HealthySystems: issues.Watched.Healthy,
		PendingSystems: issues.Watched.Pending, LastRunAt: issues.Watched.LastRunAt, CheckedSources: issues.Checked, InaccessibleSources: issues.Inaccessible, FailedSources: issues.Failed}
	for _, sys := range issues.Systems {
		v := SystemView{SystemID: sys.SystemID, SystemName: sys.Name}
		for _, sig := range sys.Signals {
			v.Signals = append(v.Signals, SignalView{sig.Source, sig.Tone, sig.Label, sig.Detail, sig.Since, sig.Until, sig.Href})
		}
		out.TotalSignals += len(v.Signals)
		out.Systems = append(out.Systems, v)
	}
	return out, nil
}

func (s *Service) getRecentActivity(ctx context.Context, in *ActivityInput) (*ActivityOutput, error) {
	feed, err := s.RecentActivity(ctx, in.Limit)
	if err != nil {
		return nil, err
	}
	out := &ActivityOutput{Items: make([]ActivityView, len(feed.Items)),
		CheckedSources: feed.Checked, InaccessibleSources: feed.Inaccessible, FailedSources: feed.Failed}
	for i, a := range feed.Items {
		v := ActivityView{Source: a.Source, Kind: a.Kind, ID: a.ID, Title: a.Title, Systems: make([]SystemRef, len(a.Systems)),
			From: a.From, To: a.To, Href: a.Href, At: a.At}
		for j, sys := range a.Systems {
			v.Systems[j] = SystemRef(sys)
		}
		out.Items[i] = v
	}
	return out, nil
}

// Tools makes system.issues; spec/ai-platform.md 41.
func (s *Service) Tools(rule authz.Rule) []tool.Tool {
	return []tool.Tool{tool.FromOperation(s.issuesOperation(rule), tool.Spec{Name: "system.issues", Effect: tool.Read,
		Description: "What needs attention now, over every source: failing health checks, active incidents, running maintenances. Use it first for questions such as what is down, any issues, is X all right. " +
			"Resolve names to ids with catalog.listSystems; pass ids only. Report inaccessibleSources and failedSources: nothing is known about those, so do not call it all clear."},
		func(out *IssuesOutput) any {
			lean := *out
			lean.Systems = make([]SystemView, len(out.Systems))
			for i, sys := range out.Systems {
				sys.Signals = append([]SignalView{}, sys.Signals...)
				for j := range sys.Signals {
					sys.Signals[j].Href = ""
				}
				lean.Systems[i] = sys
			}
			return lean
		})}
}
