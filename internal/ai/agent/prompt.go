package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
)

// The system prompt, spec/ai-platform.md 18. It states duties that span tools;
// what one tool wants stands in that tool's description. Text that never
// changes comes first, so that providers can cache it, and what changes with
// each turn last. No text from outside enters it.

// system gives the prompt of one round.
func (t *turn) system(forced bool) string {
	switch {
	case forced:
		return joinSections(forcedPrompt, t.dataSection(), t.timeSection())
	case t.headless != nil:
		return t.headlessSystem()
	}
	return joinSections(basePrompt, t.modeSection(), accessPrompt, t.investigateSection(), t.docsSection(), actPrompt, howToPrompt,
		t.memorySection(), t.askSection(), t.automationSection(), t.monitoringSection(), t.calibrationSection(),
		t.dataSection(), t.timeSection(), t.freshnessSection())
}

// headlessSystem is the baseline of an unattended run with the author's text
// behind it, which adds to it and replaces nothing.
func (t *turn) headlessSystem() string {
	author := ""
	if text := strings.TrimSpace(t.headless.systemPrompt); text != "" {
		author = "<author_instructions>\n" + text + "\n</author_instructions>"
	}
	return joinSections(headlessPrompt, accessPrompt, t.investigateSection(), t.docsSection(), t.memorySection(), t.calibrationSection(),
		t.dataSection(), author, t.timeSection())
}

func joinSections(sections ...string) string {
	return strings.Join(slices.DeleteFunc(sections, func(s string) bool { return s == "" }), "\n\n")
}

func (t *turn) offers(names ...string) bool {
	return slices.ContainsFunc(t.tools, func(tl tool.Tool) bool { return slices.Contains(names, tl.Name()) })
}

// offered gives those of the names that are offered in this turn, as the model
// knows them.
func (t *turn) offered(names ...string) []string {
	var have []string
	for _, name := range names {
		if t.offers(name) {
			have = append(have, tool.WireName(name))
		}
	}
	return have
}

// investigateSection names the sources that are really offered, and not the
// tool that aggregates them: its own description says when to use it.
func (t *turn) investigateSection() string {
	named := ""
	if have := t.offered("healthcheck.status", "slo.listObjectives", "anomaly.list", "incident.list", "healthcheck.runHistory"); len(have) > 0 {
		named = " (" + strings.Join(have, ", ") + ")"
	}
	return fmt.Sprintf(investigatePrompt, named)
}

func (t *turn) docsSection() string {
	if have := t.offered("ai.listDocs", "ai.getDoc", "ai.searchDocs"); len(have) > 0 {
		return fmt.Sprintf(docsPrompt, strings.Join(have, ", "))
	}
	return noDocsPrompt
}

func (t *turn) memorySection() string {
	if t.offers("ai.searchMemory", "ai.saveMemory") {
		return memoryPrompt
	}
	return ""
}

func (t *turn) askSection() string {
	how := ""
	if have := t.offered(askTool); len(have) > 0 {
		how = fmt.Sprintf(askChoicePrompt, have[0])
	}
	return strings.TrimSpace(fmt.Sprintf(askPrompt, how))
}

func (t *turn) automationSection() string {
	if slices.ContainsFunc(t.tools, func(tl tool.Tool) bool { return strings.HasPrefix(tl.WireName(), "automation_") }) {
		return automationPrompt
	}
	return ""
}

func (t *turn) monitoringSection() string {
	if !t.offers("healthcheck.propose", "catalog.createSystem", "catalog.createEnvironment", "catalog.setSystemEnvironments") {
		return ""
	}
	collector, probe, chips := " (healthcheck-http.request)", "", ""
	if have := t.offered("ai.probeUrl"); len(have) > 0 {
		probe = " with " + have[0]
	}
	if have := t.offered(askTool); len(have) > 0 {
		chips = " with " + have[0]
	}
	return fmt.Sprintf(monitoringPrompt, collector, probe, chips)
}

func (t *turn) calibrationSection() string {
	if t.conn.Family == familyAnthropic || t.conn.Family == familyOpenAI {
		return calibrationPrompt
	}
	return ""
}

func (t *turn) modeSection() string {
	if t.conv.mode() == proposal.Auto {
		return autoPrompt
	}
	return approvePrompt
}

func (t *turn) dataSection() string {
	if t.conn.builtin() {
		return ""
	}
	return fmt.Sprintf(dataPrompt, t.fence)
}

func (t *turn) timeSection() string {
	whose := "Times the operator mentions are in"
	if t.headless != nil {
		whose = "Times you use are in"
	}
	return fmt.Sprintf(`## Current time
%s the time zone %s unless they say otherwise. Now it is %s, which is %s there. Pass date-times to tools as RFC 3339 with an explicit timezone offset, such as 2026-07-01T22:00:00Z or 2026-07-01T22:00:00+02:00.`,
		whose, t.zone, t.now.UTC().Format("2006-01-02T15:04:05.000Z"), wallClock(t.now, t.zone))
}

func (t *turn) freshnessSection() string {
	if t.idle <= 10*time.Minute {
		return ""
	}
	return fmt.Sprintf(`## Data freshness
This conversation was idle for %s before this message. Results recalled from it may be stale: read again before you answer about the current state.`, idleText(t.idle))
}

func idleText(d time.Duration) string {
	count := func(n int, unit string) string {
		if n == 1 {
			return "1 " + unit
		}
		return fmt.Sprintf("%d %ss", n, unit)
	}
	switch {
	case d < time.Hour:
		return count(int(d.Minutes()), "minute")
	case d < 48*time.Hour:
		return count(int(d.Hours()), "hour")
	}
	return count(int(d.Hours()/24), "day")
}

// dateRule is added to every date-time of a tool's input,
// spec/ai-platform.md 7.2.
const dateRule = "RFC 3339 date-time with an explicit timezone offset, such as 2026-07-01T22:00:00Z."

// toolDef gives a tool as the model is offered it. An awkward schema must not
// end every turn, so what cannot be read becomes an open object.
func (s *Service) toolDef(t tool.Tool) llm.ToolDef {
	if d, ok := s.defs.Load(t.Name()); ok {
		return d.(llm.ToolDef)
	}
	d := llm.ToolDef{Name: t.WireName(), Description: t.Description(), Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
	if raw, err := t.Input().JSON(); err != nil {
		s.log.Error("schema of a tool cannot be read", "tool", t.Name(), "error", err)
	} else {
		var v any
		if json.Unmarshal(raw, &v) == nil {
			describeDates(v)
			if out, err := json.Marshal(v); err == nil {
				d.Parameters = out
			}
		}
	}
	if prepared, err := d.Prepared(); err == nil {
		d = prepared
	}
	s.defs.Store(t.Name(), d)
	return d
}

func describeDates(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			describeDates(item)
		}
	case map[string]any:
		if v["format"] == "date-time" {
			text, _ := v["description"].(string)
			v["description"] = strings.TrimSpace(text + " " + dateRule)
		}
		for _, item := range v {
			describeDates(item)
		}
	}
}
