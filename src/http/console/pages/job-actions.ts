import type { OperatedJob } from '../../job-desk.ts';
import { jobAddress } from '../addresses.ts';
import { backTo, call, fieldOf, parameterOf, type SignedVisit } from '../visit.ts';

/** Each makes one call of the admin listener, and leads to its job. */

export async function startJob(visit: SignedVisit): Promise<Response> {
  const [domain, version] = [fieldOf(visit, 'domain'), visit.form.get('version')?.trim() ?? ''];
  const made = await call(visit, 'startJob', { body: { domain, ...(version === '' ? {} : { version }) } });
  if (made.problem !== null) return backTo(visit, 'jobs', { text: `${domain} is not exported`, problem: made.problem });
  const { jobId } = made.value as OperatedJob;
  return backTo(visit, jobAddress(jobId), { text: `The export of ${domain} is queued`, problem: null });
}

export async function retryJob(visit: SignedVisit): Promise<Response> {
  const former = parameterOf(visit, 'jobId');
  const made = await call(visit, 'retryJob', { parameters: { jobId: former } });
  if (made.problem !== null)
    return backTo(visit, jobAddress(former), { text: 'It was not started again', problem: made.problem });
  const { jobId } = made.value as OperatedJob;
  return backTo(visit, jobAddress(jobId), { text: `What ${former} was asked for is queued again`, problem: null });
}

export async function cancelJob(visit: SignedVisit): Promise<Response> {
  const jobId = parameterOf(visit, 'jobId');
  const { problem } = await call(visit, 'cancelJob', { parameters: { jobId } });
  const text = problem === null ? 'The job was asked to stop' : 'The job was not asked to stop';
  return backTo(visit, jobAddress(jobId), { text, problem });
}
