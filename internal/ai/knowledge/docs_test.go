package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/checkstack/checkstack/docs"
	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/problem"
)

func site(pages map[string]string) fstest.MapFS {
	fs := fstest.MapFS{}
	for name, text := range pages {
		fs[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fs
}

func index(t *testing.T, pages map[string]string) *knowledge.Index {
	t.Helper()
	ix, err := knowledge.NewIndex(site(pages))
	if err != nil {
		t.Fatal(err)
	}
	return ix
}

// What people ask about finds the page that answers it.
func TestDocumentationAnswersQuestions(t *testing.T) {
	t.Parallel()
	ix, err := knowledge.NewIndex(docs.Pages)
	if err != nil {
		t.Fatal(err)
	}
	if len(ix.Pages()) < 8 {
		t.Fatalf("%d pages are bundled", len(ix.Pages()))
	}
	for _, p := range ix.Pages() {
		if p.Title == "" || p.Content == "" || p.Truncated {
			t.Errorf("page %q: title %q, %d bytes, truncated %v", p.Slug, p.Title, len(p.Content), p.Truncated)
		}
		if strings.HasPrefix(p.Slug, "decisions") {
			t.Errorf("the decision note %q is for developers", p.Slug)
		}
	}
	for query, want := range map[string]string{
		"how do I back up the database":        "operations",
		"rotate the encryption master key":     "operations",
		"what does degraded mean":              "monitoring",
		"thresholds for consecutive failures":  "monitoring",
		"create an API key for an application": "access",
		"which roles exist":                    "access",
		"spend cap of a language model":        "assistant",
		"what can the assistant do by itself":  "assistant",
		"DATABASE_URL environment variable":    "configuration",
		"who becomes the first administrator":  "getting-started",
	} {
		hits := ix.Search(query, 3)
		if len(hits) == 0 || hits[0].Page.Slug != want {
			t.Errorf("%q: got %v, want %s first", query, slugs(hits), want)
		}
	}
}

func slugs(hits []knowledge.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s#%s %.2f", h.Page.Slug, h.Heading, h.Score))
	}
	return out
}

func TestSearchFindsFormsOfAWord(t *testing.T) {
	t.Parallel()
	ix := index(t, map[string]string{
		"maintenance.md": "# Maintenance windows\n\nPlan downtime.\n\n## Recurrence\nA window can repeat by a rule.\n\n## Notifications\nSilence them.",
		"monitoring.md":  "# Systems and health checks\n\nWhat is watched.\n\n## Schedule\nChecks run in their interval. Paused checks do not.",
		"de/wartung.md":  "# Größere Wartungen\n\n## Übersicht\nGeplante Ausfälle.",
		"ja.md":          "# 監視\n\n定期メンテナンスの設定方法。",
	})
	for query, want := range map[string]string{
		"how do I recurring maintenance": "maintenance#Recurrence",
		"recurring":                      "maintenance#Recurrence",
		"silencing notification":         "maintenance#Notifications",
		"scheduling checks":              "monitoring#Schedule",
		"pausing a check":                "monitoring#Schedule",
		"MAINTENANCE":                    "maintenance#",
		"größere ausfälle":               "de/wartung#Übersicht",
		"メンテナンス":                         "ja#",
		"zebra":                          "",
		"":                               "",
		"--- !!!":                        "",
	} {
		hits := ix.Search(query, 5)
		got := ""
		if len(hits) > 0 {
			got = hits[0].Page.Slug + "#"
			if !strings.HasSuffix(want, "#") {
				got += hits[0].Heading
			}
		}
		if got != want {
			t.Errorf("%q: got %q (%v), want %q", query, got, slugs(hits), want)
		}
	}
	if hits := ix.Search("maintenance", 0); len(hits) != 0 {
		t.Errorf("limit 0 gives %v", slugs(hits))
	}
}

// The scores are those of the contract: 8 for the title, 4 headings, 3
// description, 1 content, each saturating; equal scores in order of the slug.
func TestSearchScores(t *testing.T) {
	t.Parallel()
	ix := index(t, map[string]string{
		"a.md": "# Zebra\n\nOther words.",
		"b.md": "# B\n\n## Zebra\ntext",
		"c.md": "# C\n\nA zebra.",
		"d.md": "# D\n\nIntro.\n\n## H\nzebra zebra zebra",
		"e.md": "# E\n\nIntro.\n\n## H\nzebra zebra zebra",
	})
	sat := func(n float64) float64 { return n * 2.5 / (n + 1.5) }
	want := []string{
		fmt.Sprintf("a %.2f", 8*sat(1)), // the title is no part of the content
		fmt.Sprintf("b %.2f", 4*sat(1)+sat(1)),
		fmt.Sprintf("c %.2f", 3*sat(1)+sat(1)),
		fmt.Sprintf("d %.2f", sat(3)),
		fmt.Sprintf("e %.2f", sat(3)),
	}
	var got []string
	for _, h := range ix.Search("zebra Zebra zebras", 9) {
		got = append(got, fmt.Sprintf("%s %.2f", h.Page.Slug, h.Score))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSnippet(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("before wörd ", 200) + "needle here " + strings.Repeat("after wörd ", 200)
	ix := index(t, map[string]string{
		"long.md":  "# Long\n\n" + long,
		"short.md": "# Short\n\nA  needle\n\n  in   lines.",
		"title.md": "# Needle\n\n" + strings.Repeat("plain ", 300),
	})
	for _, h := range ix.Search("needles", 5) {
		n := utf8.RuneCountInString(h.Snippet)
		switch h.Page.Slug {
		case "short":
			if h.Snippet != "A needle in lines." {
				t.Errorf("short: %q", h.Snippet)
			}
		case "long":
			if n > 502 || !strings.HasPrefix(h.Snippet, "…") || !strings.HasSuffix(h.Snippet, "…") || !strings.Contains(h.Snippet, "needle here") {
				t.Errorf("long: %d characters: %q", n, h.Snippet)
			}
		case "title":
			if n > 501 || !strings.HasPrefix(h.Snippet, "plain") || !strings.HasSuffix(h.Snippet, "…") {
				t.Errorf("title: %d characters: %q", n, h.Snippet)
			}
		}
	}
}

func TestPageIsReadAsMarkdown(t *testing.T) {
	t.Parallel()
	ix := index(t, map[string]string{
		"index.md": "---\ntitle: \"Welcome\"\ndescription: Where to begin.\n---\n<!-- hidden\nwords -->\n![A picture](images/x.png)\n\nText with `code`.\n\n## First\n```\n## no heading\n# no title\n```\n### Deep **bold**\nx\n\n## Second ##\ny\n",
		"big.md":   "# Big\n\n" + strings.Repeat("ä", 20000),
	})
	root, _, err := ix.Find("")
	if err != nil {
		t.Fatal(err)
	}
	if root.Title != "Welcome" || root.Description != "Where to begin." || !slices.Equal(root.Headings, []string{"First", "Deep bold", "Second"}) {
		t.Errorf("got %q, %q, %q", root.Title, root.Description, root.Headings)
	}
	if strings.Contains(root.Content, "hidden") || strings.Contains(root.Content, "x.png") || !strings.Contains(root.Content, "## no heading") {
		t.Errorf("content: %q", root.Content)
	}
	part, err := root.Section("#first")
	if err != nil || !strings.HasPrefix(part, "## First") || !strings.Contains(part, "### Deep bold\nx") || strings.Contains(part, "Second") {
		t.Errorf("section: %q, %v", part, err)
	}
	if _, err := root.Section("Third"); !problem.Is(err, problem.KindNotFound) || has(err.Error(), "First; Deep bold; Second") != nil {
		t.Errorf("unknown heading: %v", err)
	}
	big, _, err := ix.Find("big")
	if err != nil || !big.Truncated || len(big.Content) > 24576 || len(big.Content) < 24570 || !utf8.ValidString(big.Content) {
		t.Errorf("big page: truncated %v, %d bytes", big.Truncated, len(big.Content))
	}
	if _, err := knowledge.NewIndex(site(map[string]string{"x.md": "no title"})); err == nil || !strings.Contains(err.Error(), "x.md") {
		t.Errorf("a page without a title: %v", err)
	}
}

func TestDocTools(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	found := b.mustUse(ann, "searchDocs", `{"query":"backup of the database","limit":2}`)
	hits := list(found, "hits")
	if len(hits) == 0 || len(hits) > 2 || hits[0]["slug"] != "operations" || hits[0]["heading"] != "Backup" {
		t.Fatalf("found %v", found)
	}
	page := b.mustUse(ann, "getDoc", map[string]any{"slug": hits[0]["slug"], "heading": hits[0]["heading"]})
	if err := has(page["content"].(string), "## Backup", "pg_dump"); err != nil {
		t.Error(err)
	}
	if strings.Contains(page["content"].(string), "## Upgrade") {
		t.Error("the section holds its neighbour")
	}
	if none := b.mustUse(ann, "searchDocs", `{"query":"xylophone"}`); len(list(none, "hits")) != 0 || has(none["note"].(string), "ai.listDocs", "not cover") != nil {
		t.Errorf("nothing found: %v", none)
	}
	// What a page links to, and what a person writes, finds the page too.
	for _, slug := range []string{"operations", "operations.md", "docs/operations.md", "/Operations/", "operations.md#backup"} {
		if p, err := b.use(ann, "getDoc", map[string]any{"slug": slug}); err != nil || p["slug"] != "operations" {
			t.Errorf("%s: %v, %v", slug, p["slug"], err)
		}
	}
	_, err := b.use(ann, "getDoc", `{"slug":"guides/health-check-schedule"}`)
	if msg := wantProblem(err, problem.KindNotFound, ""); msg != "" || has(err.Error(), `"monitoring"`, "ai.searchDocs", "ai.listDocs") != nil {
		t.Errorf("unknown slug: %v", err)
	}
	if _, err := b.use(ann, "getDoc", `{"slug":"qqq"}`); !problem.Is(err, problem.KindNotFound) || has(err.Error(), "ai.listDocs") != nil {
		t.Errorf("slug like nothing: %v", err)
	}
	all := b.mustUse(ann, "listDocs", `{}`)
	if n := len(list(all, "pages")); n < 8 {
		t.Errorf("%d pages", n)
	}
	wrong := b.mustUse(ann, "listDocs", `{"section":"nope"}`)
	if len(list(wrong, "pages")) != 0 || has(wrong["note"].(string), "operations") != nil {
		t.Errorf("unknown section: %v", wrong)
	}
	for _, bad := range []string{`{}`, `{"query":""}`, `{"query":"x","limit":0}`, `{"query":"x","limit":11}`, `{"query":"` + strings.Repeat("a", 401) + `"}`} {
		if _, err := b.use(ann, "searchDocs", bad); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("%.40s: %v", bad, err)
		}
	}
}

// FuzzSearch: whatever is asked, the answer is bounded, valid and in order.
func FuzzSearch(f *testing.F) {
	ix, err := knowledge.NewIndex(docs.Pages)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{"backup", "how do I", "\x00\xff", "#../..", strings.Repeat("a ", 300), "メンテナンス", "ings ed es", "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, query string) {
		hits := ix.Search(query, 5)
		for i, h := range hits {
			if h.Score <= 0 || utf8.RuneCountInString(h.Snippet) > 502 || !utf8.ValidString(h.Snippet) {
				t.Errorf("hit %q: score %v, %d characters", h.Page.Slug, h.Score, utf8.RuneCountInString(h.Snippet))
			}
			if i > 0 && hits[i-1].Score < h.Score {
				t.Error("not in order")
			}
		}
		if _, _, err := ix.Find(query); err != nil && !problem.Is(err, problem.KindNotFound) {
			t.Errorf("find: %v", err)
		}
	})
}

// FuzzPage: any text with a title is a page within its bound.
func FuzzPage(f *testing.F) {
	f.Add("## a\n```\nx")
	f.Add("---\nt: x\n---\n# y\n#### z ####\n")
	f.Add("<!-- \n\n![](")
	f.Fuzz(func(t *testing.T, body string) {
		ix, err := knowledge.NewIndex(site(map[string]string{"p.md": "# Title\n" + body}))
		if err != nil {
			t.Fatal(err)
		}
		p := ix.Pages()[0]
		if len(p.Content) > 24576 {
			t.Errorf("%d bytes", len(p.Content))
		}
		for _, h := range p.Headings {
			if _, err := p.Section(h); err != nil && strings.Trim(h, " #`*") != "" {
				t.Errorf("heading %q is not found", h)
			}
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	ix, err := knowledge.NewIndex(docs.Pages)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if len(ix.Search("how do I back up the database", 5)) == 0 {
			b.Fatal("nothing found")
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	for b.Loop() {
		if _, err := knowledge.NewIndex(docs.Pages); err != nil {
			b.Fatal(err)
		}
	}
}
