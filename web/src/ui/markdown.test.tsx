import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { renderToStaticMarkup } from "react-dom/server";
import { MemoryRouter } from "react-router";
import { expect, test } from "vitest";
import { OperatorText } from "./markdown";
import { MentionScope, MentionTypes } from "./mention-scope";
import { mentionMarkdown, type MentionItem, type MentionType } from "./mentions";

const id = "01900000-0000-7000-8000-000000000001";
const incidents: MentionType = { type: "incident", noun: "Incident", rule: "r", plugin: "incident", href: (each) => `/incident/${each}`, resolve: () => Promise.reject(new Error("not asked in this test")), search: () => Promise.resolve([]) };

/** Renders a text as a page does whose owners answered with these records. */
function rendered(text: string, answer: MentionItem[] | undefined = undefined, types = [incidents]) {
  const client = new QueryClient();
  if (answer) client.setQueryData(["incident", "mentions", "incident", [id]], answer);
  return renderToStaticMarkup(
    <QueryClientProvider client={client}>
      <MemoryRouter>
        <MentionTypes value={types}>
          <MentionScope texts={[text]}>
            <OperatorText text={text} />
          </MentionScope>
        </MentionTypes>
      </MemoryRouter>
    </QueryClientProvider>,
  );
}

test("FC-037: written HTML is shown as it was typed and never becomes HTML", () => {
  for (const text of ["<img src=x onerror=alert(1)>", "<svg onload=alert(1)>", "before <script>alert(1)</script> after", "<!-- a comment -->", "- <iframe src=x></iframe>", "> <b onclick=alert(1)>x</b>", "<timeout>"]) {
    const html = rendered(text);
    expect(html, text).not.toMatch(/<(img|svg|script|iframe|b|timeout)\b|<!--/);
    expect(html, text).toContain("&lt;");
  }
});

test("FC-037: only web and mail addresses become links", () => {
  for (const text of ["[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](data:text/html,x)", "[a](vbscript:x)", "[a](/settings/users)", "[a](//evil.example)", "[a](checkstack:x)", "<javascript:alert(1)>", "![a](https://evil.example/pixel.png)"]) {
    expect(rendered(text), text).not.toMatch(/<a |<img/);
  }
  expect(rendered("[a](https://example.com/?a=1&b=2)")).toContain('href="https://example.com/?a=1&amp;b=2"');
  expect(rendered("[a](mailto:ops@example.com)")).toContain('href="mailto:ops@example.com"');
  const quoted = rendered(`https://example.com/"onmouseover="alert(1)`);
  expect(quoted).not.toMatch(/<[^>]*\sonmouseover=/);
});

test("a mention links only what its owner said may be read", () => {
  const text = `See ${mentionMarkdown({ type: "incident", id }, "DB <down> [1]")} now`;
  const link = rendered(text, [{ id, title: "DB <down> [1]" }]);
  expect(link).toContain(`href="/incident/${id}"`);
  expect(link).toContain("DB &lt;down&gt; [1]");
  // Not answered yet, answered with no, and of a kind that nobody here may read.
  for (const html of [rendered(text), rendered(text, []), rendered(text, [{ id, title: "DB" }], [])]) {
    expect(html).not.toContain("<a ");
    expect(html).toContain("DB &lt;down&gt; [1]");
  }
});

test("each block has the direction of its own text", () => {
  expect(rendered("שלום\n\n- hello\n\n## Heading").match(/dir="auto"/g)).toHaveLength(3);
});
