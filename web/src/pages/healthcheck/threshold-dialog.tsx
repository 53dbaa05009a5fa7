import { useState } from "react";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { toast } from "@/ui/feedback";
import { Field, FormErrors, Input, Select } from "@/ui/field";
import { useAssociate, type CheckOverview } from "./api";
import { describe, formOf, standard, storedOf, withMode, type Mode } from "./thresholds";

/** From how many failed runs a check counts as degraded or unhealthy, for one system. */
export function ThresholdDialog({ systemId, systemName, check, open, onOpenChange }: { systemId: string; systemName: string; check: CheckOverview; open: boolean; onOpenChange: (open: boolean) => void }) {
  return (
    <Dialog open={open} onOpenChange={onOpenChange} title={`Thresholds of ${check.configurationName}`} description={`For ${systemName} only. Every run is kept; thresholds decide when the state changes.`}>
      <ThresholdEditor systemId={systemId} check={check} close={() => onOpenChange(false)} />
    </Dialog>
  );
}

function ThresholdEditor({ systemId, check, close }: { systemId: string; check: CheckOverview; close: () => void }) {
  const [form, setForm] = useState(() => formOf(check.stateThresholds));
  const save = useAssociate();
  const send = (thresholds: ReturnType<typeof storedOf> | null) =>
    save.mutate(
      { systemId, body: { configurationId: check.configurationId, enabled: check.enabled, ...(thresholds ? { stateThresholds: thresholds } : {}) } },
      {
        onSuccess: () => {
          toast("Thresholds saved");
          close();
        },
      },
    );
  const number = (label: string, key: "healthy" | "degraded" | "unhealthy" | "windowSize", min: number, max: number) => (
    <Field label={label}>{(control) => <Input {...control} type="number" required min={min} max={max} value={Number.isNaN(form[key]) ? "" : form[key]} onChange={(event) => setForm({ ...form, [key]: event.target.valueAsNumber })} />}</Field>
  );
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        send(storedOf(form));
      }}
    >
      <FormErrors error={save.error} />
      <Field label="Count">
        {(control) => (
          <Select {...control} value={form.mode} onChange={(event) => setForm(withMode(form, event.target.value as Mode))}>
            <option value="consecutive">Failed runs in a row</option>
            <option value="window">Failed runs among the newest</option>
          </Select>
        )}
      </Field>
      <div className="grid gap-3 sm:grid-cols-3">
        {form.mode === "window" ? number("Newest runs", "windowSize", 3, 100) : number("Successes to recover", "healthy", 1, 100)}
        {number("Degraded from", "degraded", 1, 100)}
        {number("Unhealthy from", "unhealthy", 1, 100)}
      </div>
      <p className="text-ink-2">{describe(form)}</p>
      <div className="flex flex-wrap justify-end gap-2">
        {check.stateThresholds ? (
          <Button className="mr-auto" onClick={() => send(null)}>
            Use the standard
          </Button>
        ) : null}
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" look="primary" busy={save.isPending}>
          Save thresholds
        </Button>
      </div>
      {check.stateThresholds ? <p className="text-sm text-ink-3">Standard: {describe(standard)}</p> : null}
    </form>
  );
}
