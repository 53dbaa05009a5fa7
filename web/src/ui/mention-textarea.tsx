import { clsx } from "clsx";
import { useId, useLayoutEffect, useRef, useState, type TextareaHTMLAttributes } from "react";
import { Textarea } from "./field";
import { useMentionTypes } from "./mention-scope";
import { useMentionSearch, type Suggestion } from "./mention-search";
import { mentionMarkdown, mentionQuery } from "./mentions";
import { Badge } from "./state";

/**
 * A text field for Markdown. "#" opens a list of records to mention: arrow keys
 * move in it, Enter or Tab takes one, Escape closes it and keeps what was typed.
 */
export function MentionTextarea({
  value,
  onChange,
  ...rest
}: Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "value" | "onChange" | "onKeyDown" | "onSelect" | "onBlur"> & { value: string; onChange: (value: string) => void }) {
  const listId = useId();
  const box = useRef<HTMLDivElement>(null);
  const types = useMentionTypes();
  const [caret, setCaret] = useState<number>();
  const [active, setActive] = useState(0);
  /** Where a "#" stands whose list was closed on purpose. */
  const [dismissed, setDismissed] = useState<number>();
  const nextCaret = useRef<number>(undefined);

  const found = caret === undefined || types.length === 0 ? undefined : mentionQuery(value, caret);
  const open = found !== undefined && found.start !== dismissed;
  const { items, pending, failed } = useMentionSearch(types, open ? found.query : undefined);
  const shown = open && (items.length > 0 || failed || (found.query.length < 20 && !pending && !/\s/.test(found.query)));
  const index = Math.min(active, Math.max(0, items.length - 1));

  const textarea = () => box.current?.querySelector("textarea");
  useLayoutEffect(() => {
    if (nextCaret.current === undefined) return;
    const at = nextCaret.current;
    nextCaret.current = undefined;
    box.current?.querySelector("textarea")?.setSelectionRange(at, at);
  }, [value]);

  const choose = (item: Suggestion | undefined) => {
    if (!item || !found || caret === undefined) return;
    const text = `${mentionMarkdown({ type: item.type.type, id: item.id }, item.title)} `;
    nextCaret.current = found.start + text.length;
    onChange(value.slice(0, found.start) + text + value.slice(caret));
    setCaret(undefined);
    textarea()?.focus();
  };
  const follow = () => {
    const element = textarea();
    if (!element) return;
    const at = element.selectionStart === element.selectionEnd ? element.selectionStart : undefined;
    if (at !== caret) {
      setCaret(at);
      setActive(0);
    }
  };

  return (
    <div ref={box} className="relative">
      <Textarea
        dir="auto"
        {...rest}
        value={value}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={shown ? listId : undefined}
        aria-activedescendant={shown && items[index] ? `${listId}-${index}` : undefined}
        onChange={(event) => {
          onChange(event.target.value);
          setCaret(event.target.selectionStart);
          setActive(0);
          const now = mentionQuery(event.target.value, event.target.selectionStart);
          if (now?.start !== dismissed) setDismissed(undefined);
        }}
        onSelect={follow}
        onBlur={() => setCaret(undefined)}
        onKeyDown={(event) => {
          if (!shown || event.nativeEvent.isComposing) return;
          if (event.key === "Escape") {
            // Only the list closes, not the dialog around it.
            event.preventDefault();
            event.stopPropagation();
            setDismissed(found.start);
          } else if (items.length > 0 && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
            event.preventDefault();
            const next = (index + (event.key === "ArrowDown" ? 1 : -1) + items.length) % items.length;
            setActive(next);
            document.getElementById(`${listId}-${next}`)?.scrollIntoView({ block: "nearest" });
          } else if (items.length > 0 && !event.shiftKey && (event.key === "Enter" || event.key === "Tab")) {
            event.preventDefault();
            choose(items[index]);
          }
        }}
      />
      <span role="status" className="sr-only">
        {shown ? (items.length > 0 ? `${items.length} ${items.length === 1 ? "suggestion" : "suggestions"}` : failed ? "Suggestions could not be loaded" : "Nothing found to mention") : ""}
      </span>
      {shown ? (
        <div className="rise absolute inset-x-0 top-full z-30 mt-1 overflow-hidden rounded-[8px] border border-line bg-surface shadow-[var(--shadow-overlay)]">
          {items.length > 0 ? (
            <div id={listId} role="listbox" aria-label="Records to mention" className="max-h-64 overflow-y-auto p-1">
              {items.map((item, i) => (
                // The text field keeps the focus and drives the list; the pointer is a second way.
                // eslint-disable-next-line jsx-a11y/click-events-have-key-events
                <div
                  key={`${item.type.type}/${item.id}`}
                  id={`${listId}-${i}`}
                  role="option"
                  tabIndex={-1}
                  aria-selected={i === index}
                  onPointerDown={(event) => event.preventDefault()}
                  onPointerMove={() => setActive(i)}
                  onClick={() => choose(item)}
                  className={clsx("flex min-h-8 cursor-pointer items-center gap-2.5 rounded-[6px] px-2.5 py-1.5", i === index && "bg-accent-soft")}
                >
                  <bdi className="min-w-0 flex-1 truncate">{item.title}</bdi>
                  {item.active === false ? <Badge>Over</Badge> : null}
                  <span className="shrink-0 text-sm text-ink-3">{item.type.noun}</span>
                </div>
              ))}
            </div>
          ) : (
            <p className="px-3 py-2 text-sm text-ink-3">{failed ? "Suggestions could not be loaded." : "Nothing found to mention."}</p>
          )}
        </div>
      ) : null}
    </div>
  );
}
