//! The live view in a terminal.

use super::TopAsked;
use super::client::TopClient;
use super::more::shown;
use super::sample::{Sample, View};
use super::text::{COLUMNS, hour, now_ms, rows, summary};
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Style, Stylize};
use ratatui::text::Line;
use ratatui::widgets::{Block, Cell, Paragraph, Row, Table};
use std::error::Error;
use std::time::{Duration, Instant};

/// What is shown.
struct Screen {
    view: View,
    asked: TopAsked,
    trouble: Option<String>,
    /// Rows of the table above the screen.
    scrolled: usize,
}

/// Shows metrics until `q`, Escape or Ctrl-C.
pub(super) fn run(client: &TopClient, interval: Duration, asked: TopAsked) -> Result<(), Box<dyn Error>> {
    // If the gateway does not respond at all, report that as text, not on a screen that disappears.
    let mut last = Sample::take(client, asked)?;
    let mut screen = Screen { view: View::between(&last, &last), asked, trouble: None, scrolled: 0 };
    let mut terminal = ratatui::try_init()?;
    let mut next = Instant::now() + interval;
    let result = loop {
        if let Err(error) = terminal.draw(|frame| screen.draw(frame)) {
            break Err(error.into());
        }
        match event::poll(next.saturating_duration_since(Instant::now())) {
            Ok(true) => match event::read() {
                Ok(event) if screen.is_end(&event) => break Ok(()),
                Ok(_) => {}
                Err(error) => break Err(error.into()),
            },
            Ok(false) => {
                match Sample::take(client, screen.asked) {
                    Ok(sample) => {
                        screen.view = View::between(&last, &sample);
                        screen.trouble = None;
                        last = sample;
                    }
                    Err(error) => screen.trouble = Some(error),
                }
                next = Instant::now() + interval;
            }
            Err(error) => break Err(error.into()),
        }
    };
    ratatui::restore();
    result
}

impl Screen {
    /// Handles a key; true if it ends the program.
    fn is_end(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        if key.kind != KeyEventKind::Press {
            return false;
        }
        match key.code {
            KeyCode::Char('q') | KeyCode::Esc => return true,
            KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => return true,
            KeyCode::Down => self.scrolled = (self.scrolled + 1).min(self.view.apis.len().saturating_sub(1)),
            KeyCode::Up => self.scrolled = self.scrolled.saturating_sub(1),
            KeyCode::Home => self.scrolled = 0,
            KeyCode::Char('b') => self.asked = self.asked.next_field(),
            KeyCode::Char('w') => self.asked = self.asked.next_window(),
            _ => {}
        }
        false
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let hour = hour(&self.view);
        let [head, past, apis, below, last, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Length(u16::from(hour.is_some())),
            Constraint::Fill(2),
            Constraint::Fill(1),
            Constraint::Fill(1),
            Constraint::Length(1),
        ])
        .areas(frame.area());
        frame.render_widget(Line::from(summary(&self.view)).bold(), head);
        frame.render_widget(Line::from(hour.unwrap_or_default()), past);
        let rows = rows(&self.view).into_iter().skip(self.scrolled).map(|row| Row::new(row.map(Cell::from)));
        let widths = std::iter::once(Constraint::Fill(1)).chain(COLUMNS.iter().skip(1).map(|_| Constraint::Length(10)));
        let table =
            Table::new(rows, widths).header(Row::new(COLUMNS).style(Style::new().bold())).block(Block::bordered().title("APIs"));
        frame.render_widget(table, apis);
        let [causes, keys, frequent] = Layout::horizontal([Constraint::Fill(1); 3]).areas(below);
        let lines: Vec<Line<'_>> =
            self.view.causes.iter().map(|(cause, per_s)| Line::from(format!("{per_s:>10.1}/s  {cause}"))).collect();
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("Refusals and failures")), causes);
        let lines: Vec<Line<'_>> = self.view.keys.iter().map(|(key, hits)| Line::from(format!("{hits:>10}  {key}"))).collect();
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("Keys, 5 minutes")), keys);
        let more = &self.view.more;
        let lines: Vec<Line<'_>> =
            more.frequent.rows.iter().map(|(value, requests)| Line::from(format!("{requests:>10}  {}", shown(value)))).collect();
        let title = format!("Most frequent by {}", more.frequent.title());
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title(title)), frequent);
        let [refused, targets] = Layout::horizontal([Constraint::Fill(1); 2]).areas(last);
        let lines: Vec<Line<'_>> = more.refused.iter().map(|refused| Line::from(refused.line(now_ms()))).collect();
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("Last refusals and failures")), refused);
        let lines: Vec<Line<'_>> = self.view.targets.iter().map(|target| Line::from(target.line())).collect();
        frame.render_widget(Paragraph::new(lines).block(Block::bordered().title("Targets")), targets);
        let foot_line = match &self.trouble {
            Some(trouble) => Line::from(trouble.clone()).red(),
            None => Line::from("q: end   up, down: scroll   b, w: field and window of the most frequent").dim(),
        };
        frame.render_widget(foot_line, foot);
    }
}
