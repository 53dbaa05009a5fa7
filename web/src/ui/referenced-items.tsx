import { Link } from "react-router";
import { useMentioned } from "./mention-scope";
import { keyOf, mentionsIn } from "./mentions";
import { Section } from "./page";
import { Badge } from "./state";

/**
 * The records that these texts mention, as far as the reader may open them;
 * absent when there are none. Stands inside a MentionScope over the same texts.
 */
export function ReferencedItems({ texts, except }: { texts: readonly (string | null | undefined)[]; except?: { type: string; id: string } }) {
  const mentioned = useMentioned();
  const items = mentionsIn(texts).flatMap((ref) => {
    const found = except && keyOf(ref) === keyOf(except) ? undefined : mentioned(ref);
    return found ? [found] : [];
  });
  if (items.length === 0) return null;
  return (
    <Section title="Referenced items">
      <ul className="card divide-y divide-line">
        {items.map((item) => (
          <li key={keyOf(item)} className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-4 py-2.5">
            <Link to={item.href} className="min-w-0 break-words text-ink hover:underline">
              <bdi>{item.title}</bdi>
            </Link>
            <span className="text-sm text-ink-3">{item.noun}</span>
            {item.active ? null : <Badge>Over</Badge>}
          </li>
        ))}
      </ul>
    </Section>
  );
}
