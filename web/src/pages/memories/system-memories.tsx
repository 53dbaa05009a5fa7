import { Brain } from "lucide-react";
import type { SystemBlockProps } from "@/app/slots";
import { LinkButton } from "@/ui/button";
import { RelativeTime } from "@/ui/clock";
import { ErrorState } from "@/ui/feedback";
import { LongText } from "@/ui/long-text";
import { Section } from "@/ui/page";
import { useSystemMemories } from "./api";

/** What the assistant keeps in mind about a system; absent while that is nothing. */
export default function SystemMemories({ systemId }: SystemBlockProps) {
  const memories = useSystemMemories(systemId);
  const rows = memories.data?.memories ?? [];
  if (memories.isError && !memories.data) {
    return (
      <div className="mb-7">
        <ErrorState title="The memories about this system could not be loaded" error={memories.error} onRetry={() => void memories.refetch()} />
      </div>
    );
  }
  if (rows.length === 0) return null;
  const total = memories.data?.total ?? rows.length;
  return (
    <Section
      title="What the assistant keeps in mind"
      actions={
        <LinkButton size="sm" to={`/ai/memories?system=${systemId}`}>
          {total > rows.length ? `All ${total.toLocaleString()} memories` : "All memories"}
        </LinkButton>
      }
    >
      <ul aria-label="Memories about this system" className="card mt-2 divide-y divide-line">
        {rows.map((memory) => (
          <li key={memory.id} className="flex items-start gap-3 px-4 py-3">
            <Brain aria-hidden size={16} className="mt-0.5 shrink-0 text-ink-3" />
            <div className="min-w-0 flex-1">
              <h3 dir="auto" className="font-medium break-words">
                {memory.recallHint}
              </h3>
              <LongText text={memory.content} className="mt-0.5 text-ink-2" />
            </div>
            <RelativeTime at={memory.updatedAt} className="text-sm text-ink-3" />
          </li>
        ))}
      </ul>
    </Section>
  );
}
