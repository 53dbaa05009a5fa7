package knowledge

import (
	"context"
	"slices"
	"strings"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
)

type searchDocsInput struct {
	Query string `json:"query" minLength:"1" maxLength:"400" doc:"What to look for, in a few words, such as \"recurring maintenance\""`
	Limit int    `json:"limit" required:"false" minimum:"1" maximum:"10" default:"5" doc:"How many pages at most"`
}

type docHit struct {
	Slug    string  `json:"slug"`
	Title   string  `json:"title"`
	Heading string  `json:"heading,omitempty" doc:"The section that fits best; pass it to ai.getDoc to read only that"`
	Snippet string  `json:"snippet"`
	Score   float64 `json:"score"`
}

type searchDocsOutput struct {
	Hits []docHit `json:"hits"`
	Note string   `json:"note"`
}

type getDocInput struct {
	Slug    string `json:"slug" maxLength:"200" doc:"Slug of the page, from ai.searchDocs or ai.listDocs"`
	Heading string `json:"heading,omitempty" maxLength:"200" doc:"Only the section under this heading"`
}

type getDocOutput struct {
	Slug        string   `json:"slug"`
	Title       string   `json:"title"`
	Description string   `json:"description,omitempty"`
	Headings    []string `json:"headings"`
	Content     string   `json:"content" doc:"Markdown"`
	Truncated   bool     `json:"truncated" doc:"True when the page is longer than content; read the rest by heading"`
}

type listDocsInput struct {
	Section string `json:"section,omitempty" maxLength:"200" doc:"Only pages of this section; leave it out for all"`
}

type docPage struct {
	Slug        string `json:"slug"`
	Title       string `json:"title"`
	Description string `json:"description,omitempty"`
}

type listDocsOutput struct {
	Pages    []docPage `json:"pages"`
	Sections []string  `json:"sections"`
	Note     string    `json:"note"`
}

const (
	noteNothing = "Nothing fits. Do not search again with other words: look at ai.listDocs, or say that the documentation does not cover it."
	noteWeak    = "No page stands out; these may only share a word with the question. Do not search again with other words: read the one that fits, look at ai.listDocs, or say that the documentation does not cover it."
	noteStrong  = "The first page fits best. Read it with ai.getDoc before you answer."
	noteList    = "Read a page with ai.getDoc. What no page is about, the documentation does not cover."
)

func (s *Service) docTools() []tool.Tool {
	read := func(name, description string) tool.Spec {
		return tool.Spec{Name: "ai." + name, Effect: tool.Read, Access: []authz.Rule{s.chat}, Description: description}
	}
	return []tool.Tool{
		tool.Define(read("searchDocs", "Search the documentation of this product, for what a concept means and how something is done. Returns the pages that fit with an excerpt; read the best with ai.getDoc. It knows nothing about this installation's own systems."),
			s.searchDocs),
		tool.Define(read("getDoc", "Read a page of the product's documentation, or one section of it, by its slug from ai.searchDocs or ai.listDocs."), s.getDoc),
		tool.Define(read("listDocs", "List all pages of the product's documentation with what each is about. Use it when a search found nothing that fits."), s.listDocs),
	}
}

func (s *Service) searchDocs(_ context.Context, in searchDocsInput) (searchDocsOutput, error) {
	hits := s.docs.Search(in.Query, in.Limit)
	out := searchDocsOutput{Hits: make([]docHit, len(hits)), Note: noteWeak}
	for i, h := range hits {
		out.Hits[i] = docHit{h.Page.Slug, h.Page.Title, h.Heading, h.Snippet, h.Score}
	}
	switch {
	case len(hits) == 0:
		out.Note = noteNothing
	case strong(hits):
		out.Note = noteStrong
	}
	return out, nil
}

func (s *Service) getDoc(_ context.Context, in getDocInput) (getDocOutput, error) {
	p, anchor, err := s.docs.Find(in.Slug)
	if err != nil {
		return getDocOutput{}, err
	}
	out := getDocOutput{Slug: p.Slug, Title: p.Title, Description: p.Description, Headings: append([]string{}, p.Headings...), Content: p.Content, Truncated: p.Truncated}
	heading := in.Heading
	if heading == "" {
		heading = anchor
	}
	if heading != "" {
		out.Content, err = p.Section(heading)
		out.Truncated = false
	}
	return out, err
}

// docSectionOf gives the section of a slug, its first segment.
func docSectionOf(slug string) string {
	if slug == "" {
		return "(root)"
	}
	first, _, _ := strings.Cut(slug, "/")
	return first
}

func (s *Service) listDocs(_ context.Context, in listDocsInput) (listDocsOutput, error) {
	out := listDocsOutput{Pages: []docPage{}, Sections: []string{}, Note: noteList}
	for _, p := range s.docs.Pages() {
		section := docSectionOf(p.Slug)
		if !slices.Contains(out.Sections, section) {
			out.Sections = append(out.Sections, section)
		}
		if in.Section == "" || in.Section == section {
			out.Pages = append(out.Pages, docPage{p.Slug, p.Title, p.Description})
		}
	}
	slices.Sort(out.Sections)
	if len(out.Pages) == 0 {
		out.Note = "There is no such section. The sections are: " + strings.Join(out.Sections, ", ")
	}
	return out, nil
}
