

mod steps;
