package knowledge

import (
	"context"
	"fmt"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// AskOperator is the tool whose result is a question to the person: the agent
// ends the turn behind it and the answer is the person's next message. It is
// of no use where nobody can answer.
const AskOperator = "ai.askOperator"

type askInput struct {
	Question      string      `json:"question" minLength:"1" maxLength:"500" doc:"One specific question"`
	Options       []askOption `json:"options" minItems:"1" maxItems:"6" doc:"What the operator can choose from"`
	AllowFreeText bool        `json:"allowFreeText" required:"false" default:"true" doc:"Whether an answer in own words makes sense too"`
}

type askOption struct {
	Label string `json:"label" minLength:"1" maxLength:"80" doc:"Text of the button"`
	Value string `json:"value,omitempty" maxLength:"500" doc:"What is sent when it is chosen; the label when left out"`
}

type askChoice struct {
	Label string `json:"label"`
	Value string `json:"value"`
}

// Question is the result of AskOperator, a card of spec/ai-platform.md 14.4.
type Question struct {
	Mark          bool        `json:"__question" doc:"Always true: marks the result as a question card"`
	Question      string      `json:"question"`
	Options       []askChoice `json:"options"`
	AllowFreeText bool        `json:"allowFreeText"`
	Note          string      `json:"note"`
}

const askNote = "The question is on the operator's screen. Stop here: the answer is their next message. Do not answer it yourself and do not ask again."

func (s *Service) askTool() tool.Tool {
	return tool.Define(tool.Spec{Name: AskOperator, Effect: tool.Read, Access: []authz.Rule{s.chat},
		Description: "Ask the operator one question with up to six choices, shown as buttons. Use it when a needed value is one of a few and guessing would be wrong; for open answers ask in prose instead. It ends the turn; the choice arrives as the next message."},
		func(_ context.Context, in askInput) (Question, error) { return in.question() })
}

func (in askInput) question() (Question, error) {
	q := Question{Mark: true, Question: text.Clean(in.Question), AllowFreeText: in.AllowFreeText, Note: askNote}
	issues := text.Message("question", q.Question, 500)
	seen := map[string]bool{}
	for i, o := range in.Options {
		c := askChoice{Label: text.Clean(o.Label), Value: text.Clean(o.Value)}
		if text.Blank(c.Value) {
			c.Value = c.Label
		}
		path := fmt.Sprintf("options[%d]", i)
		issues = append(issues, text.Line(path+".label", c.Label, 80)...)
		issues = append(issues, text.Block(path+".value", c.Value, 500)...)
		if seen[c.Label] {
			issues = append(issues, problem.Issue{Path: path + ".label", Message: "another option has the same label"})
		}
		seen[c.Label] = true
		q.Options = append(q.Options, c)
	}
	return q, problem.InputIssues(issues)
}
