package tool

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
)

type nothing struct{}

var testRule = authz.Rule{ID: "test.thing.read"}

func reading(name string) Tool {
	return Define(Spec{Name: name, Description: "Reads.", Effect: Read, Access: []authz.Rule{testRule}},
		func(context.Context, nothing) (nothing, error) { return nothing{}, nil })
}

func TestRegistryRefusesMistakes(t *testing.T) {
	t.Parallel()
	without := func(change func(*Spec)) Tool {
		tl := reading("test.list")
		change(&tl.spec)
		return tl
	}
	for name, tools := range map[string][]Tool{
		"no plugin":               {reading("list")},
		"empty":                   {reading("")},
		"illegal letters":         {reading("test.löschen")},
		"space":                   {reading("test.list all")},
		"too long":                {reading("test." + strings.Repeat("x", 64))},
		"twice":                   {reading("test.list"), reading("test.list")},
		"twice on the wire":       {reading("test.list_all"), reading("test.list.all")},
		"no description":          {without(func(s *Spec) { s.Description = "" })},
		"no effect":               {without(func(s *Spec) { s.Effect = "" })},
		"unknown effect":          {without(func(s *Spec) { s.Effect = "harmless" })},
		"no rules":                {without(func(s *Spec) { s.Access = nil })},
		"mistake in second group": {reading("test.a"), without(func(s *Spec) { s.Name = "test.b"; s.Effect = "" })},
	} {
		if _, err := NewRegistry(tools[:1], tools[1:]); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, make := range map[string]func(){
		"a read with effect mutate": func() {
			Define(Spec{Name: "a.b", Effect: Mutate}, func(context.Context, nothing) (nothing, error) { return nothing{}, nil })
		},
		"a change with effect read": func() {
			DefineChange(Spec{Name: "a.b", Effect: Read}, func(context.Context, nothing) (Preview[nothing], error) { return Preview[nothing]{}, nil },
				func(context.Context, nothing) (nothing, error) { return nothing{}, nil })
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the start goes on", name)
				}
			}()
			make()
		}()
	}
}

func TestNamesOnTheWire(t *testing.T) {
	t.Parallel()
	r, err := NewRegistry([]Tool{reading("test.list"), reading("test.get.all")})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"test.list", "test_list"} {
		if tl, ok := r.Get(name); !ok || tl.Name() != "test.list" || tl.WireName() != "test_list" {
			t.Errorf("Get(%q) = %v, %v", name, tl.Name(), ok)
		}
	}
	for _, name := range []string{"", "list", "TEST_LIST", "test-list", "test list", "test_list ", "other.list"} {
		if _, ok := r.Get(name); ok {
			t.Errorf("Get(%q) finds something", name)
		}
	}
}

// TestMoreRulesNeverHideATool is the property of spec/ai-platform.md 6.1: what
// somebody sees, everybody with more rules sees too.
func TestMoreRulesNeverHideATool(t *testing.T) {
	t.Parallel()
	rules := []string{"a.x.read", "a.x.manage", "b.y.read", "b.y.manage", "c.z.read"}
	var tools []Tool
	for i := range 1 << len(rules) {
		tl := reading("test.t" + strings.Repeat("x", i))
		tl.spec.Name = "test.t" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		tl.spec.Access = nil
		for j, r := range rules {
			if i>>j&1 == 1 {
				tl.spec.Access = append(tl.spec.Access, authz.Rule{ID: r})
			}
		}
		if len(tl.spec.Access) > 0 {
			tools = append(tools, tl)
		}
	}
	r, err := NewRegistry(tools)
	if err != nil {
		t.Fatal(err)
	}
	names := func(rules []string) []string {
		var out []string
		for _, tl := range r.For(authz.Principal{Kind: authz.User, ID: "x", Rules: rules}) {
			out = append(out, tl.Name())
		}
		return out
	}
	for range 300 {
		more := slices.Clone(rules)
		rand.Shuffle(len(more), func(i, j int) { more[i], more[j] = more[j], more[i] })
		more = more[:rand.IntN(len(more)+1)]
		fewer := more[:rand.IntN(len(more)+1)]
		seen := names(more)
		for _, n := range names(fewer) {
			if !slices.Contains(seen, n) {
				t.Fatalf("%s is seen with %v, not with %v", n, fewer, more)
			}
		}
	}
	if len(names([]string{"*"})) != len(tools) || len(names(nil)) != 0 {
		t.Error("the wildcard sees all, nobody sees nothing")
	}
}
