import { Plus, Trash2 } from "lucide-react";
import { useRef } from "react";
import { Button, IconButton } from "@/ui/button";
import { Input } from "@/ui/field";

/** Further models of a connection, one row each; pasting a list makes several rows. */
export function ModelList({ models, onChange, error }: { models: string[]; onChange: (models: string[]) => void; error: string | undefined }) {
  const box = useRef<HTMLFieldSetElement>(null);
  const focusRow = (i: number) => requestAnimationFrame(() => box.current?.querySelectorAll("input")[i]?.focus());
  const set = (i: number, text: string) => {
    const parts = text.split(/[\n,]/);
    onChange(models.flatMap((each, at) => (at === i ? (parts.length > 1 ? parts.map((part) => part.trim()).filter(Boolean) : [text]) : [each])));
  };
  const add = () => {
    onChange([...models, ""]);
    focusRow(models.length);
  };
  return (
    <fieldset ref={box}>
      <legend className="mb-1 text-sm font-medium">Further models</legend>
      <p className="mb-2 text-sm text-ink-3">People can choose among these in the assistant.{models.length === 0 ? " Without any, only the default is offered." : ""}</p>
      <div className="grid gap-2">
        {models.map((model, i) => (
          <div key={i} className="flex gap-2">
            <Input
              aria-label={`Further model ${i + 1}`}
              spellCheck={false}
              maxLength={4000}
              className="font-mono"
              value={model}
              onChange={(event) => set(i, event.target.value)}
              onPaste={(event) => {
                const text = event.clipboardData.getData("text");
                if (!/[\n,]/.test(text)) return;
                event.preventDefault();
                set(i, text);
              }}
              onKeyDown={(event) => {
                if (event.key !== "Enter") return;
                event.preventDefault();
                add();
              }}
            />
            <IconButton
              label={`Remove model ${i + 1}`}
              onClick={() => {
                onChange(models.filter((_, at) => at !== i));
                focusRow(Math.max(0, i - 1));
              }}
            >
              <Trash2 aria-hidden size={16} />
            </IconButton>
          </div>
        ))}
        <div>
          <Button size="sm" icon={<Plus aria-hidden size={14} />} onClick={add}>
            Add model
          </Button>
        </div>
      </div>
      {error ? <p className="mt-1 text-sm text-unhealthy-ink">{error}</p> : null}
    </fieldset>
  );
}
