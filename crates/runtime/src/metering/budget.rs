//! Budgets of modules: what their requests use together, in windows of time.
//!
//! Each part has windows of fixed length, one after another. Use is charged while a request runs, so that a long one does not
//! escape. A request that runs goes on when the budget is spent; further ones are refused until the window ends. Use beyond the
//! amount is a debt that the next windows pay, so that the mean over time is within the budget.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::StatusCode;

use crate::config::{Allowance, ModuleBudget, WhenSpent};

/// The longest time that a refusal names.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

const NANOS: u128 = 1_000_000_000;

/// A part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetPart {
    /// Processor time.
    Cpu,
    /// Outbound calls.
    Calls,
    /// Bytes of responses and of outbound calls.
    BytesOut,
    /// Memory over time.
    Memory,
}

impl BudgetPart {
    const ALL: [Self; 4] = [Self::Cpu, Self::Calls, Self::BytesOut, Self::Memory];

    /// The part's key in `tenon.toml`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Calls => "calls",
            Self::BytesOut => "bytes_out",
            Self::Memory => "memory",
        }
    }

    /// How many units are counted for one of the configuration: nanoseconds for a microsecond, byte nanoseconds for a byte second.
    fn scale(self) -> u128 {
        match self {
            Self::Cpu => 1_000,
            Self::Calls | Self::BytesOut => 1,
            Self::Memory => NANOS,
        }
    }
}

/// The state of one part of a module's budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remainder {
    /// The part.
    pub part: BudgetPart,
    /// The amount of a window, in the unit of [`ModuleBudget`].
    pub amount: u64,
    /// The amount that is left in this window; 0 when it is spent.
    pub remaining: u64,
    /// The length of a window.
    pub period: Duration,
    /// The time until requests find an unspent part again: to the end of this window, or of the last one that pays a debt.
    pub resets_in: Duration,
}

/// The state of a module's budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remainders {
    /// The answer while it is spent.
    pub when_spent: WhenSpent,
    /// Its parts, in the order of [`ModuleBudget`].
    pub parts: Vec<Remainder>,
}

/// A refusal of a request because the budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    pub(crate) status: StatusCode,
    /// The time until a request is served again.
    pub(crate) after: Duration,
}

/// The budget of the modules of one name, which stays the same when a module replaces another.
pub(crate) struct Budget {
    is_set: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    config: ModuleBudget,
    windows: [Option<Window>; BudgetPart::ALL.len()],
    /// The memories of running requests together, in bytes.
    held: u64,
    /// The time of its last charge.
    held_since: Option<Instant>,
}

/// The current window of a part.
#[derive(Clone, Copy)]
struct Window {
    amount: u128,
    period: Duration,
    used: u128,
    began: Instant,
}

impl Window {
    fn new(part: BudgetPart, Allowance { amount, period }: Allowance, now: Instant) -> Self {
        let amount = u128::from(amount.max(1)) * part.scale();
        Self { amount, period: period.max(Duration::from_millis(1)), used: 0, began: now }
    }

    /// Begins the window of `now`; each one that has ended pays its amount.
    fn roll(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.began).as_nanos();
        let windows = passed / self.period.as_nanos();
        if windows > 0 {
            self.used = self.used.saturating_sub(self.amount.saturating_mul(windows));
            let rest = u64::try_from(passed % self.period.as_nanos()).unwrap_or(0);
            self.began = now.checked_sub(Duration::from_nanos(rest)).unwrap_or(now);
        }
    }

    /// The time until less than the amount is used.
    fn resets_in(&self, now: Instant) -> Duration {
        let windows = u32::try_from((self.used / self.amount).max(1)).unwrap_or(u32::MAX);
        let all = self.period.checked_mul(windows).unwrap_or(LONGEST);
        all.saturating_sub(now.saturating_duration_since(self.began)).min(LONGEST.max(self.period))
    }

    fn is_spent(&self) -> bool {
        self.used >= self.amount
    }
}

impl State {
    /// Charges the memory that is held, and begins the windows of `now`.
    fn settle(&mut self, now: Instant) {
        if let Some(since) = self.held_since.replace(now) {
            let held = u128::from(self.held) * now.saturating_duration_since(since).as_nanos();
            self.charge(BudgetPart::Memory, held);
        }
        for window in self.windows.iter_mut().flatten() {
            window.roll(now);
        }
    }

    fn charge(&mut self, part: BudgetPart, amount: u128) {
        if let Some(window) = &mut self.windows[part as usize] {
            window.used = window.used.saturating_add(amount);
        }
    }

    /// Changes the budget. A part with the same amount and period goes on with its window.
    fn set(&mut self, config: ModuleBudget, now: Instant) {
        self.settle(now);
        let parts = |config: &ModuleBudget| [config.cpu, config.calls, config.bytes_out, config.memory];
        let (before, after) = (parts(&self.config), parts(&config));
        for (index, part) in BudgetPart::ALL.into_iter().enumerate() {
            if before[index] != after[index] {
                self.windows[index] = after[index].map(|allowance| Window::new(part, allowance, now));
            }
        }
        self.config = config;
    }
}

impl Budget {
    /// The budget of a module, which is that of the module before it when there is one.
    pub(crate) fn of(config: Option<&ModuleBudget>, before: Option<&Arc<Self>>) -> Arc<Self> {
        let budget = before
            .cloned()
            .unwrap_or_else(|| Arc::new(Self { is_set: AtomicBool::new(false), state: Mutex::default() }));
        budget.state().set(config.copied().unwrap_or_default(), Instant::now());
        budget.is_set.store(budget.state().windows.iter().any(Option::is_some), Ordering::Relaxed);
        budget
    }

    /// Reports whether there is a bound.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Charges processor time.
    pub(crate) fn charge_cpu(&self, used: Duration) {
        self.charge(BudgetPart::Cpu, used.as_nanos());
    }

    /// Charges an outbound call.
    pub(crate) fn charge_call(&self) {
        self.charge(BudgetPart::Calls, 1);
    }

    /// Charges bytes of a response or of an outbound call.
    pub(crate) fn charge_out(&self, bytes: u64) {
        self.charge(BudgetPart::BytesOut, u128::from(bytes));
    }

    fn charge(&self, part: BudgetPart, amount: u128) {
        let mut state = self.state();
        if state.windows[part as usize].is_some() {
            state.settle(Instant::now());
            state.charge(part, amount);
        }
    }

    /// Notes that a running request's memory has another size.
    pub(crate) fn hold(&self, before: u64, after: u64) {
        let mut state = self.state();
        state.settle(Instant::now());
        state.held = state.held.saturating_sub(before).saturating_add(after);
    }

    /// The refusal of a request while the budget is spent.
    pub(crate) fn spent(&self) -> Option<Spent> {
        if self.is_set() { self.spent_at(Instant::now()) } else { None }
    }

    fn spent_at(&self, now: Instant) -> Option<Spent> {
        let mut state = self.state();
        state.settle(now);
        let spent = state.windows.iter().flatten().filter(|window| window.is_spent());
        let after = spent.map(|window| window.resets_in(now)).max()?;
        Some(Spent { status: state.config.when_spent.status(), after })
    }

    /// The remainders; none without a bound.
    pub(crate) fn remainders(&self) -> Option<Remainders> {
        if self.is_set() { Some(self.remainders_at(Instant::now())) } else { None }
    }

    fn remainders_at(&self, now: Instant) -> Remainders {
        let mut state = self.state();
        state.settle(now);
        let parts = BudgetPart::ALL.into_iter().zip(&state.windows).filter_map(|(part, window)| {
            let window = window.as_ref()?;
            let whole = |amount: u128| u64::try_from(amount / part.scale()).unwrap_or(u64::MAX);
            Some(Remainder {
                part,
                amount: whole(window.amount),
                remaining: whole(window.amount.saturating_sub(window.used)),
                period: window.period,
                resets_in: window.resets_in(now),
            })
        });
        Remainders { when_spent: state.config.when_spent, parts: parts.collect() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn budget(config: ModuleBudget) -> Arc<Budget> {
        Budget::of(Some(&config), None)
    }

    fn each(amount: u64, period: Duration) -> Option<Allowance> {
        Some(Allowance { amount, period })
    }

    #[test]
    fn a_spent_part_refuses_until_its_window_ends() {
        let budget = budget(ModuleBudget { calls: each(3, 60 * SECOND), ..ModuleBudget::default() });
        let began = Instant::now();
        for _ in 0..2 {
            budget.charge_call();
        }
        assert_eq!(budget.spent(), None);
        budget.charge_call();
        let spent = budget.spent_at(began + 20 * SECOND).unwrap();
        assert_eq!(spent.status, 429);
        assert!(spent.after > 39 * SECOND && spent.after <= 41 * SECOND, "{spent:?}");
        assert_eq!(budget.spent_at(began + 61 * SECOND), None);
    }

    #[test]
    fn use_beyond_the_amount_is_paid_by_the_next_windows() {
        let when_spent = WhenSpent::Unavailable;
        let budget = budget(ModuleBudget { cpu: each(1_000_000, SECOND), when_spent, ..ModuleBudget::default() });
        let began = Instant::now();
        budget.charge_cpu(3 * SECOND + SECOND / 2);
        let spent = budget.spent_at(began).unwrap();
        assert_eq!(spent.status, 503);
        assert!(spent.after > 2 * SECOND && spent.after <= 3 * SECOND + SECOND / 10, "{spent:?}");
        assert!(budget.spent_at(began + 2 * SECOND).is_some());
        assert_eq!(budget.spent_at(began + 4 * SECOND), None);
    }

    /// A request that waits for something is charged, too.
    #[test]
    fn memory_is_charged_while_it_is_held() {
        let budget = budget(ModuleBudget { memory: each(1_000, 3_600 * SECOND), ..ModuleBudget::default() });
        budget.hold(0, 100);
        let began = Instant::now();
        assert_eq!(budget.spent_at(began + 9 * SECOND), None);
        let [part] = budget.remainders_at(began + 9 * SECOND).parts[..] else { panic!("one part") };
        assert!((99..=101).contains(&part.remaining), "{part:?}");
        assert!(budget.spent_at(began + 11 * SECOND).is_some());
    }

    #[test]
    fn a_changed_budget_keeps_the_windows_of_the_parts_that_are_the_same() {
        let first = ModuleBudget { calls: each(1, 60 * SECOND), ..ModuleBudget::default() };
        let before = budget(first);
        before.charge_call();
        let changed = Budget::of(Some(&ModuleBudget { cpu: each(5, SECOND), ..first }), Some(&before));
        assert!(Arc::ptr_eq(&before, &changed) && changed.spent().is_some());
        let raised = Budget::of(Some(&ModuleBudget { calls: each(2, 60 * SECOND), ..first }), Some(&before));
        assert_eq!(raised.spent(), None);
        assert!(!Budget::of(None, Some(&before)).is_set());
    }
}
