import { MessageCircleQuestion } from "lucide-react";
import { useId, useState } from "react";
import { Button } from "@/ui/button";
import type { QuestionCard } from "./fold";

/** A question of the assistant. The answer is an ordinary message of the reader. */
export function QuestionCardView({ card, open, onAnswer }: { card: QuestionCard; open: boolean; onAnswer?: (text: string) => void }) {
  const id = useId();
  const [text, setText] = useState("");
  const live = open && onAnswer !== undefined;
  return (
    <section aria-labelledby={`${id}-question`} className="card px-4 py-3">
      <div className="flex items-start gap-2.5">
        <MessageCircleQuestion aria-hidden size={17} className="mt-0.5 shrink-0 text-accent-ink" />
        <h2 id={`${id}-question`} className="min-w-0 font-semibold break-words whitespace-pre-line">
          <bdi>{card.question}</bdi>
        </h2>
      </div>
      {live ? (
        <>
          <ul aria-label="Answers" className="mt-3 flex flex-wrap gap-2">
            {card.options.map((option) => (
              <li key={option.label} className="max-w-full">
                <Button className="h-auto! max-w-full py-1.5 text-left whitespace-normal!" onClick={() => onAnswer(option.value)}>
                  <span className="min-w-0 break-words">
                    <bdi>{option.label}</bdi>
                    {/* What is sent in the reader's name must be seen by the reader. */}
                    {option.value === option.label ? null : <bdi className="block text-sm font-normal text-ink-2">{option.value}</bdi>}
                  </span>
                </Button>
              </li>
            ))}
          </ul>
          {card.allowFreeText ? (
            <form
              className="mt-3 flex flex-wrap gap-2"
              onSubmit={(event) => {
                event.preventDefault();
                if (text.trim() !== "") onAnswer(text.trim());
              }}
            >
              <input aria-label="Answer in your own words" placeholder="Or in your own words" maxLength={32_000} className="control min-w-0 flex-1 basis-52" value={text} onChange={(event) => setText(event.target.value)} />
              <Button type="submit" disabled={text.trim() === ""}>
                Answer
              </Button>
            </form>
          ) : null}
        </>
      ) : (
        <p className="mt-2 text-sm break-words text-ink-2">
          Choices were: <bdi>{card.options.map((option) => option.label).join(", ")}</bdi>
        </p>
      )}
    </section>
  );
}
