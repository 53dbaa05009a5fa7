package knowledge

import (
	"cmp"
	"fmt"
	"io/fs"
	"math"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/problem"
)

// pageLimit is the most bytes of a page that a model can be given at once,
// spec/ai-platform.md 34.1.
const pageLimit = 24576

// Page is one page of the documentation.
type Page struct {
	// Slug is the file's path without ".md"; the root page has none.
	Slug        string
	Title       string
	Description string // its first paragraph, or what the front matter says
	Headings    []string
	Content     string
	// Truncated says that Content was cut at pageLimit.
	Truncated bool

	sections []docSection
	title    counts
	headings counts
	descr    counts
	content  counts
}

// docSection is a heading with the text up to the next one; the text before
// the first heading has an empty one.
type docSection struct {
	heading string
	level   int
	text    string
	inHead  counts
	inText  counts
}

// Index is the documentation, ready to be searched. It never changes.
type Index struct {
	pages []*Page // by slug
	known counts  // every word of them
}

// NewIndex reads every Markdown file of files. A page without a title is an
// error: it could not be listed.
func NewIndex(files fs.FS) (*Index, error) {
	ix := &Index{known: counts{}}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".md" {
			return err
		}
		raw, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		p, err := parsePage(slugOf(name), string(raw))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		ix.pages = append(ix.pages, p)
		for _, c := range []counts{p.title, p.headings, p.descr, p.content} {
			for w, n := range c {
				ix.known[w] += n
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read documentation: %w", err)
	}
	slices.SortFunc(ix.pages, func(a, b *Page) int { return cmp.Compare(a.Slug, b.Slug) })
	return ix, nil
}

func slugOf(name string) string {
	slug := strings.TrimSuffix(name, ".md")
	dir, base := path.Split(slug)
	if lower := strings.ToLower(base); lower == "index" || lower == "readme" {
		slug = strings.TrimSuffix(dir, "/")
	}
	return slug
}

var (
	headingLine = regexp.MustCompile(`^(#{1,6})[ \t]+(.+?)[ \t]*#*$`)
	images      = regexp.MustCompile(`!\[([^\]]*)\]\([^)]*\)`)
	comments    = regexp.MustCompile(`(?s)<!--.*?-->`)
	links       = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	marks       = strings.NewReplacer("**", "", "`", "")
)

// plain takes the marks of inline Markdown away.
func plain(s string) string { return marks.Replace(links.ReplaceAllString(s, "$1")) }

func parsePage(slug, raw string) (*Page, error) {
	front, body := frontMatter(strings.ReplaceAll(raw, "\r\n", "\n"))
	body = images.ReplaceAllString(comments.ReplaceAllString(body, ""), "$1")
	p := &Page{Slug: slug, Title: front["title"], Description: front["description"]}
	cur := docSection{}
	var text, kept strings.Builder
	closeSection := func() {
		cur.text = strings.TrimSpace(text.String())
		text.Reset()
		if cur.heading != "" || cur.text != "" {
			p.sections = append(p.sections, cur)
		}
	}
	fenced := ""
	for line := range strings.Lines(body) {
		trimmed := strings.TrimSpace(line)
		m := headingLine.FindStringSubmatch(strings.TrimRight(line, "\n"))
		switch {
		case fenced != "":
			if strings.HasPrefix(trimmed, fenced) {
				fenced = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fenced = trimmed[:3]
		case m != nil && len(m[1]) == 1:
			if p.Title == "" {
				p.Title = plain(m[2])
			}
			continue // the title stands beside the content
		case m != nil:
			closeSection()
			cur = docSection{heading: plain(m[2]), level: len(m[1])}
			p.Headings = append(p.Headings, cur.heading)
			kept.WriteString(line)
			continue
		}
		text.WriteString(line)
		kept.WriteString(line)
	}
	closeSection()
	if p.Title == "" {
		return nil, fmt.Errorf("the page has no title: begin it with a line such as \"# Title\"")
	}
	if p.Description == "" && len(p.sections) > 0 && p.sections[0].heading == "" {
		first, _, _ := strings.Cut(p.sections[0].text, "\n\n")
		if !strings.HasPrefix(first, "|") && !strings.HasPrefix(first, "- ") && !strings.HasPrefix(first, "```") {
			p.Description = plain(strings.Join(strings.Fields(first), " "))
		}
	}
	p.Content = strings.TrimSpace(kept.String())
	if len(p.Content) > pageLimit {
		p.Content, p.Truncated = cutBytes(p.Content, pageLimit), true
	}
	p.title, p.headings, p.descr, p.content = count(p.Title, strings.ReplaceAll(slug, "/", " ")), count(p.Headings...), count(p.Description), count(kept.String())
	for i := range p.sections {
		s := &p.sections[i]
		s.inHead, s.inText = count(s.heading), count(s.text)
	}
	return p, nil
}

// frontMatter splits off a leading block between lines of three dashes and
// reads its simple "key: value" lines.
func frontMatter(raw string) (map[string]string, string) {
	rest, ok := strings.CutPrefix(raw, "---\n")
	if !ok {
		return nil, raw
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return nil, raw
	}
	front := map[string]string{}
	for line := range strings.Lines(head) {
		if key, value, ok := strings.Cut(line, ":"); ok {
			front[strings.TrimSpace(key)] = strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return front, body
}

// cutBytes gives at most n bytes of s, cut between characters.
func cutBytes(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Hit is one page that a search found.
type Hit struct {
	Page *Page
	// Heading is the section that fits best; empty when it is the beginning of
	// the page.
	Heading string
	Snippet string
	Score   float64
}

// Search gives the pages that fit the query, the best first, at most limit.
// Scores are those of spec/ai-platform.md 34.3, over stems and without words
// such as "how"; the section is the one whose heading and text fit best.
func (ix *Index) Search(query string, limit int) []Hit {
	ts := ix.terms(query)
	var hits []Hit
	for _, p := range ix.pages {
		score := p.score(ts)
		if score <= 0 {
			continue
		}
		hits = append(hits, Hit{Page: p, Score: math.Round(score*100) / 100})
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Page.Slug, b.Page.Slug))
	})
	hits = hits[:min(len(hits), max(limit, 0))]
	for i := range hits {
		h := &hits[i]
		s := h.Page.bestSection(ts)
		h.Heading, h.Snippet = s.heading, excerpt(s.text, ts)
		if h.Snippet == "" {
			h.Snippet = excerpt(h.Page.Content, ts)
		}
	}
	return hits
}

// terms adds to the words of a query those that two neighbours make together
// and a page has: "back up" finds "backup".
func (ix *Index) terms(query string) []string {
	ts := terms(query)
	all := runs(query)
	for i := range len(all) - 1 {
		if w := stem(all[i] + all[i+1]); len(ts) < maxTerms && ix.known[w] > 0 && !slices.Contains(ts, w) {
			ts = append(ts, w)
		}
	}
	return ts
}

func (p *Page) score(ts []string) float64 {
	return 8*p.title.score(ts) + 4*p.headings.score(ts) + 3*p.descr.score(ts) + p.content.score(ts)
}

func (p *Page) bestSection(ts []string) docSection {
	var best docSection
	top := -1.0
	for _, s := range p.sections {
		if score := 4*s.inHead.score(ts) + s.inText.score(ts); score > top {
			best, top = s, score
		}
	}
	return best
}

// strong says that the first hit is clearly the page that was looked for. It is
// relative: an absolute bound would drift with the number of pages.
func strong(hits []Hit) bool {
	return len(hits) == 1 || (len(hits) > 1 && hits[0].Score >= 1.8*hits[1].Score)
}

// Pages gives every page by slug.
func (ix *Index) Pages() []*Page { return ix.pages }

// Find gives a page by its slug. What a reader may make of one is understood
// too: a path with ".md", a leading "docs/", slashes around it. A part after
// "#" names a section.
func (ix *Index) Find(slug string) (*Page, string, error) {
	clean, anchor, _ := strings.Cut(slug, "#")
	clean = strings.Trim(strings.TrimSpace(clean), "/")
	clean = slugOf(strings.TrimPrefix(clean, "docs/"))
	for _, p := range ix.pages {
		if strings.EqualFold(p.Slug, clean) {
			return p, anchor, nil
		}
	}
	near := ix.Search(strings.NewReplacer("/", " ", "-", " ", "_", " ").Replace(clean), 3)
	if len(near) == 0 {
		return nil, "", problem.NotFound("There is no such page. Slugs come from ai.searchDocs or ai.listDocs; call ai.listDocs to see all pages")
	}
	names := make([]string, len(near))
	for i, h := range near {
		names[i] = fmt.Sprintf("%q", h.Page.Slug)
	}
	return nil, "", problem.NotFound("There is no such page. Slugs come from ai.searchDocs or ai.listDocs; the closest are %s", strings.Join(names, ", "))
}

// Section gives the part of the page under a heading, with the smaller
// headings below it. The heading may be written as in a link (#like-this).
func (p *Page) Section(heading string) (string, error) {
	want := anchorOf(heading)
	for i, s := range p.sections {
		if s.heading == "" || anchorOf(s.heading) != want {
			continue
		}
		var out strings.Builder
		for j := i; j < len(p.sections); j++ {
			sub := p.sections[j]
			if j > i && sub.level <= s.level {
				break
			}
			fmt.Fprintf(&out, "%s %s\n%s\n\n", strings.Repeat("#", sub.level), sub.heading, sub.text)
		}
		text := strings.TrimSpace(out.String())
		if len(text) > pageLimit {
			text = cutBytes(text, pageLimit)
		}
		return text, nil
	}
	return "", problem.NotFound("The page has no such heading. Its headings are: %s", strings.Join(p.Headings, "; "))
}

// anchorOf gives a heading as it is written in a link.
func anchorOf(heading string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimLeft(strings.TrimSpace(heading), "# ")) {
		switch {
		case r == ' ' || r == '-':
			b.WriteByte('-')
		case strings.ContainsRune(`.,:;!?'"()[]{}/\`+"`", r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
